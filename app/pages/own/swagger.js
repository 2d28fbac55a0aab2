// Starts Swagger UI. It asks nobody but this server: no validator badge, no fonts, no query-string configuration.
"use strict";

const dark = window.matchMedia("(prefers-color-scheme: dark)");
const follow = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
follow();
dark.addEventListener("change", follow);

const page = document.getElementById("page");
window.ui = SwaggerUIBundle({
  domNode: page,
  url: new URL(page.dataset.openapi, document.baseURI).href,
  deepLinking: true,
  tryItOutEnabled: true,
  displayRequestDuration: true,
  persistAuthorization: true,
  queryConfigEnabled: false,
  validatorUrl: null,
  defaultModelsExpandDepth: 0,
});
