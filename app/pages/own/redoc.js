// Starts ReDoc with the reader's own fonts.
"use strict";

const page = document.getElementById("page");
const text = "system-ui, sans-serif";
const code = "ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace";

Redoc.init(
  new URL(page.dataset.openapi, document.baseURI).href,
  {
    nativeScrollbars: true,
    requiredPropsFirst: true,
    sortRequiredPropsFirst: true,
    theme: {
      typography: {
        fontFamily: text,
        headings: { fontFamily: text, fontWeight: "600" },
        code: { fontFamily: code },
      },
    },
  },
  page,
);
