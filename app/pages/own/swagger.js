// Starts Swagger UI. It asks nobody but this server: no validator badge, no fonts, no query-string configuration.
"use strict";

const dark = window.matchMedia("(prefers-color-scheme: dark)");
const follow = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
follow();
dark.addEventListener("change", follow);

// While a form of body is chosen, its first example is the one shown (Swagger UI alone would write "string"), and the
// options that the example needs in the query string are filled in. They are taken out again, unless they were changed:
// a JSON body has its options in it, and none may stand beside it.
const OPTIONS = "x-example-options";

function showExample(system, { value: form, pathMethod }) {
  const [path, method] = pathMethod;
  const forms = system.specSelectors.specJson().getIn(["paths", path, method, "requestBody", "content"]);
  const name = forms.getIn([form, "examples"])?.keySeq().first();
  if (name) {
    const context = { contextType: "requestBody", contextName: "requestBody" };
    system.oas3Actions.setActiveExamplesMember({ name, pathMethod, ...context });
  }
  const options = forms.getIn([form, OPTIONS]);
  forms.forEach((other) => other.get(OPTIONS)?.forEach((value, option) => {
    const current = system.specSelectors.getParameter(pathMethod, option, "query")?.get("value");
    const change = (to) => system.specActions.changeParam(pathMethod, option, "query", to, false);
    if (options?.has(option)) {
      if (!current) change(value);
    } else if (String(current) === String(value)) {
      change("");
    }
  }));
}

const examplesOfForms = {
  // JSON lines are text, though "json" is in their name: Swagger UI would put the example in quotes.
  afterLoad() {
    const sample = this.fn.getSampleSchema;
    this.fn.getSampleSchema = (schema, form, config, example) =>
      form?.includes("ndjson") && example ? example : sample(schema, form, config, example);
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
  plugins: [examplesOfForms],
});
