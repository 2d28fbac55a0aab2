// Starts Swagger UI. It asks nobody but this server: no validator badge, no fonts, no query-string configuration.
"use strict";

const dark = window.matchMedia("(prefers-color-scheme: dark)");
const follow = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
follow();
dark.addEventListener("change", follow);

// While a form of body is chosen, its first example is the one shown (Swagger UI alone would write "string"), and the
// options that an example which is no JSON needs in the query string are filled in. They are taken out again, unless
// they were changed: a JSON body has its options in it, and none may stand beside it.
const OPTIONS = "x-example-options";

function showExample(system, { value: form, pathMethod }) {
  const [path, method] = pathMethod;
  const body = system.specSelectors.specJson().getIn(["paths", path, method, "requestBody"]);
  const name = body.getIn(["content", form, "examples"])?.keySeq().first();
  if (name) {
    const context = { contextType: "requestBody", contextName: "requestBody" };
    system.oas3Actions.setActiveExamplesMember({ name, pathMethod, ...context });
  }
  body.get(OPTIONS)?.forEach((value, option) => {
    const current = system.specSelectors.getParameter(pathMethod, option, "query")?.get("value");
    const change = (to) => system.specActions.changeParam(pathMethod, option, "query", to, false);
    if (form !== "application/json") {
      if (!current) change(value);
    } else if (String(current) === String(value)) {
      change("");
    }
  });
}

// The part of the document that one operation needs. Swagger UI resolves all of what it is given, for every operation
// that unfolds, which takes seconds.
function excerpt(description, [first, path, method]) {
  const { components = {}, ...rest } = description;
  if (first !== "paths" || method === undefined) return description;
  const paths = { [path]: { [method]: description.paths[path][method] } };
  const kept = { securitySchemes: components.securitySchemes ?? {} };
  const follow = (part) => {
    for (const [key, value] of Object.entries(part)) {
      if (key === "$ref" && value.startsWith("#/components/")) {
        const [kind, name] = value.slice("#/components/".length).split("/");
        const part = components[kind]?.[name];
        kept[kind] ??= {};
        if (part && !(name in kept[kind])) {
          kept[kind][name] = part;
          follow(part);
        }
      } else if (value && typeof value === "object") {
        follow(value);
      }
    }
  };
  follow(paths);
  return { ...rest, paths, components: kept };
}

const quickAndShown = {
  afterLoad() {
    const resolve = this.fn.resolveSubtree;
    this.fn.resolveSubtree = (description, path, options) => resolve(excerpt(description, path), path, options);
  },
  statePlugins: {
    oas3: {
      wrapActions: {
        setRequestContentType: (choose, system) => (choice) => {
          showExample(system, choice);
          return choose(choice);
        },
      },
    },
  },
};

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
  plugins: [quickAndShown],
});
