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

// Problems all have one form: the first shows it. Drawing it for each of them takes most of the time of an operation.
function inBrief(responses, shared) {
  const found = Object.entries(responses).map(([status, each]) => [status, shared[each.$ref?.split("/").pop()] ?? each]);
  const problems = found.filter(([, each]) => each.content?.["application/problem+json"]).slice(1);
  const words = problems.map(([status, { content, ...rest }]) => [status, rest]);
  return { ...Object.fromEntries(found), ...Object.fromEntries(words) };
}

// The part of the document that one operation needs. Swagger UI resolves all of what it is given, for every operation
// that unfolds, which takes seconds.
function excerpt(description, [first, path, method]) {
  const { components = {}, ...rest } = description;
  if (first !== "paths" || method === undefined) return description;
  const operation = { ...description.paths[path][method] };
  if (operation.responses) operation.responses = inBrief(operation.responses, components.responses ?? {});
  const paths = { [path]: { [method]: operation } };
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

// Text that is no Markdown, which most is, is shown as it is: reading and cleaning it takes longer than drawing it.
const PLAIN = /^(?!.*\/\/)[A-Za-z][A-Za-z0-9 ,;:.?!'"()\/%-]*$/;
const quickText = (Markdown, { React }) =>
  function Text(props) {
    if (!PLAIN.test(props.source ?? "")) return React.createElement(Markdown, props);
    const className = `${props.className ?? ""} renderedMarkdown`.trim();
    return React.createElement("div", { className }, React.createElement("p", null, props.source));
  };

const quickAndShown = {
  wrapComponents: { Markdown: quickText },
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
