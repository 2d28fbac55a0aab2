"""The documentation of the API in a real browser that can reach nothing but the service."""

import json
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from playwright.sync_api import Locator, Page, Route, expect

from app.openapi.document import OPTIONS
from macekit.call import JSON
from tests.browser.conftest import BELOW, Visit
from tests.browser.home import reach

LIGHT = "rgb(250, 250, 250)"


def advantage(page: Page) -> Locator:
    """The operation in Swagger UI, unfolded."""
    block = page.locator(".opblock", has=page.locator("[data-path='/v1/advantage']"))
    block.locator(".opblock-summary-control").click()
    expect(block.locator(".btn.execute")).to_be_visible()
    return block


def operations(document: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Every operation, with its method and its path."""
    for path, item in document["paths"].items():
        for method, operation in item.items():
            yield method, path, operation


@BELOW
def test_swagger_ui_shows_every_operation_executes_an_example_by_keyboard_and_is_linked_in_any_colour(
    visit: Visit,
) -> None:
    """Nothing is loaded that need not be: were an example loaded when its operation unfolds, a click on Execute made
    meanwhile would be lost. Every status is told, and how a problem looks once. A link to an operation unfolds it, in
    the reader's colour scheme."""
    page = visit.open("/docs#/work/advantage")
    expect(page.locator(".info .title")).to_contain_text("mace")
    expect(page.locator(".version-stamp")).to_contain_text("OAS 3.1")
    linked = page.locator(".opblock.is-open", has=page.locator("[data-path='/v1/advantage']"))
    expect(linked).to_be_visible()
    linked.locator(".opblock-summary-control").click()
    expect(page.locator(".opblock.is-open")).to_have_count(0)
    page.evaluate("history.replaceState(null, '', location.pathname)")
    described = page.request.get(f"{visit.address}/openapi.json").json()
    wanted = {(method, path) for method, path, _ in operations(described)}
    expect(page.locator(".opblock")).to_have_count(len(wanted))
    shown = page.locator(".opblock").evaluate_all(
        "all => all.map(each => [each.querySelector('.opblock-summary-method').textContent.toLowerCase(),"
        " each.querySelector('.opblock-summary-path').dataset.path])"
    )
    assert {tuple(each) for each in shown} == wanted

    loaded: list[str] = []
    page.on("request", lambda request: loaded.append(request.url))
    block = advantage(page)
    example = json.loads(block.locator("textarea.body-param__text").input_value())
    block.locator("textarea.body-param__text").focus()
    reach(page, block.locator(".btn.execute"), most=10)
    page.keyboard.press("Enter")

    answer = block.locator(".live-responses-table")
    expect(answer.locator("tbody .response-col_status")).to_have_text("200")
    expect(answer.locator(".response-col_description .highlight-code").first).to_contain_text("advantage")
    expect(block.locator(".request-url")).to_contain_text(f"{visit.address}/v1/advantage")
    assert len(example["members"]) == len(example["nonmembers"])
    assert [url for url in loaded if not url.endswith(".png")] == [f"{visit.address}/v1/advantage"]

    statuses = described["paths"]["/v1/advantage"]["post"]["responses"]
    told = block.locator("tr.response[data-code]")
    expect(told).to_have_count(len(statuses))
    for row, status in zip(told.all(), statuses, strict=True):
        expect(row.locator(".response-col_status")).to_contain_text(status)
        expect(row.locator(".renderedMarkdown").first).not_to_be_empty()
    problems = block.locator("tr.response:not([data-code^='2'])")
    assert problems.count() > 10
    assert problems.locator("code").count() > problems.count()  # what a kind is called
    expect(problems.locator(".model-example")).to_have_count(1)  # all problems have one form

    assert page.url == f"{visit.address}/docs#/work/advantage"
    for scheme in ("light", "dark", "light"):
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        page.wait_for_function(
            "([light, wanted]) => wanted === [document.body, document.documentElement]"
            ".some(each => getComputedStyle(each).backgroundColor === light)",
            arg=[LIGHT, scheme == "light"],
        )


EXECUTE = """
async (asked) => {
  const until = async (what, find) => {
    for (const end = Date.now() + 90000; Date.now() < end; ) {
      const value = find();
      if (value) return value;
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    throw new Error(`never came: ${what}`);
  };
  const choose = async (find, value) => {
    if (value === null) return;
    const list = await until(`a list that offers ${value}`,
      () => (find() && [...find().options].some((option) => option.value === value) ? find() : null));
    Object.getOwnPropertyDescriptor(HTMLSelectElement.prototype, "value").set.call(list, value);
    list.dispatchEvent(new Event("change", { bubbles: true }));
    await new Promise((resolve) => setTimeout(resolve, 0));
  };

  ui.getConfigs().syntaxHighlight = { activated: false };  // colours of answers take most of the time
  const answers = [];
  let open = null;
  for (const [method, path, form, example] of asked) {
    const block = [...document.querySelectorAll(`.opblock-${method}`)].find(
      (each) => each.querySelector(".opblock-summary-path").dataset.path === path);
    if (open !== block) {
      open?.querySelector(".opblock-summary-control").click();
      block.querySelector(".opblock-summary-control").click();
      await until(`a resolved ${path}`, () => ui.specSelectors.specResolvedSubtree(["paths", path, method]));
      open = block;
    }
    const execute = await until(`Execute of ${path}`, () => block.querySelector(".btn.execute"));
    const body = block.querySelector(".opblock-section-request-body");
    if (body?.querySelector("select.content-type").value !== form)
      await choose(() => body?.querySelector("select.content-type"), form);
    await choose(() => body?.querySelector(".examples-select select"), example);
    block.querySelector(".btn-clear")?.click();
    await until(`an end of the last answer of ${path}`, () => !block.querySelector(".live-responses-table"));
    execute.click();
    const status = await until(`an answer of ${path}`,
      () => block.querySelector(".live-responses-table tbody .response-col_status"));
    const address = block.querySelector(".request-url pre").textContent.trim();
    answers.push([status.textContent.trim(), address.split("?")[1] ?? ""]);
  }
  return answers;
}
"""
"""Chooses each form of body and each example in the page, presses Execute, and reads the status and the query."""


def inlined(document: dict[str, Any], part: Any) -> Any:
    """A part of the description with what it refers to in its place."""
    if isinstance(part, list):
        return [inlined(document, each) for each in part]
    if not isinstance(part, dict):
        return part
    if isinstance(place := part.get("$ref"), str):
        found: Any = document
        for step in place.removeprefix("#/").split("/"):
            found = found[step.replace("~1", "/")]
        return inlined(document, found)
    return {name: inlined(document, each) for name, each in part.items()}


def in_brief(document: dict[str, Any]) -> dict[str, Any]:
    """The description without what is slow to draw and fills in nothing: answers, schemas, most parameters."""
    for _, _, operation in operations(document):
        body = operation.get("requestBody", {})
        content = body.get("content", {})
        named = {name for holder in (body, *content.values()) for name in holder.get(OPTIONS, ())}
        for form in content.values():
            form["schema"] = {"type": form["schema"].get("type", "object")}
        operation["responses"] = {"200": {"description": "an answer"}}
        operation.update(inlined(document, operation))
        operation["parameters"] = [
            each
            for each in operation.get("parameters", ())
            if each["name"] in named or {"example", "examples", "default", "enum"} & {*each, *each["schema"]}
        ]
    return {**document, "components": {}}


def test_an_example_of_every_operation_is_executed_with_and_without_options_in_the_address(visit: Visit) -> None:
    """Whatever the page fills in, untouched: 200, and no option in the query string beside a JSON body.

    Of each kind of operation the one with the shortest example: the page knows no operation, but what forms of body one
    has and the types of options that its example needs. Every example of each is answered in tests/contract.
    """
    described = visit.page.request.get(f"{visit.address}/openapi.json").json()
    kinds = defaultdict(list)
    for method, path, operation in operations(described):
        body = operation.get("requestBody", {})
        content = body.get("content", {None: {}})
        types = tuple(type(value) for value in body.get(OPTIONS, {}).values())
        for form, about in content.items():
            examples = about.get("examples", {})
            if "{name}" not in path and (examples or form is None):  # no job that was made before
                wanted = [method, path, form, next(iter(examples), None)]
                beside = bool(types) and form != JSON
                rank = (not types and form != JSON, len(str(examples)))
                kinds[method, tuple(content), types, beside].append((rank, beside, wanted))

    asked = [min(each) for each in kinds.values()]

    def answer_in_brief(route: Route) -> None:
        route.fulfill(json=in_brief(route.fetch().json()))

    visit.page.route("**/openapi.json", answer_in_brief)
    page = visit.open("/docs")
    expect(page.locator(".opblock").first).to_be_visible()

    answers = page.evaluate(EXECUTE, [wanted for _, _, wanted in asked])

    assert len(asked) > 20
    for (_, beside, wanted), (status, query) in zip(asked, answers, strict=True):
        assert (status, query != "") == ("200", beside), (wanted, query)
