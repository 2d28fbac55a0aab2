"""The documentation pages in a real browser that can reach nothing but the service."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from playwright.sync_api import Locator, Page, Route, expect

from app.openapi.document import OPTIONS
from macekit.call import JSON
from tests.browser.conftest import EVERYWHERE, Visit
from tests.contract.document import unfold


def advantage(page: Page) -> Locator:
    """The operation in Swagger UI, unfolded."""
    block = page.locator(".opblock", has=page.locator("[data-path='/v1/advantage']"))
    block.locator(".opblock-summary-control").click()
    expect(block.locator(".btn.execute")).to_be_visible()
    return block


@EVERYWHERE
def test_swagger_ui_renders_every_operation_of_the_description(visit: Visit) -> None:
    page = visit.open("/docs")

    expect(page.locator(".info .title")).to_contain_text("mace")
    expect(page.locator(".version-stamp")).to_contain_text("OAS 3.1")
    described = page.request.get(f"{visit.address}/openapi.json").json()
    operations = {(method, path) for path, item in described["paths"].items() for method in item}
    expect(page.locator(".opblock")).to_have_count(len(operations))
    shown = {
        (method.lower(), path)
        for method, path in zip(
            page.locator(".opblock-summary-method").all_inner_texts(),
            [element.get_attribute("data-path") for element in page.locator(".opblock-summary-path").all()],
            strict=True,
        )
    }
    assert shown == operations


@EVERYWHERE
def test_an_example_is_executed_from_swagger_ui_which_loads_nothing_more(visit: Visit) -> None:
    """Were an operation's example loaded when it unfolds, a click on Execute made meanwhile would be lost."""
    page = visit.open("/docs")
    expect(page.locator(".opblock").first).to_be_visible()
    loaded: list[str] = []
    page.on("request", lambda request: loaded.append(request.url))
    block = advantage(page)
    example = json.loads(block.locator("textarea.body-param__text").input_value())

    block.locator(".btn.execute").click()

    answer = block.locator(".live-responses-table")
    expect(answer.locator("tbody .response-col_status")).to_have_text("200")
    expect(answer.locator(".response-col_description .highlight-code").first).to_contain_text("advantage")
    expect(block.locator(".request-url")).to_contain_text(f"{visit.address}/v1/advantage")
    assert len(example["members"]) == len(example["nonmembers"])
    assert [url for url in loaded if not url.endswith(".png")] == [f"{visit.address}/v1/advantage"]


def test_an_example_is_executed_by_keyboard_alone(visit: Visit) -> None:
    page = visit.open("/docs")
    block = advantage(page)
    execute = block.locator(".btn.execute")
    block.locator("textarea.body-param__text").focus()

    for _ in range(10):
        page.keyboard.press("Tab")
        if execute.evaluate("button => button === document.activeElement"):
            break
    expect(execute).to_be_focused()
    assert execute.evaluate("button => button.matches(':focus-visible')")
    page.keyboard.press("Enter")

    expect(block.locator(".live-responses-table tbody .response-col_status")).to_have_text("200")


@EVERYWHERE
def test_a_link_to_an_operation_unfolds_it(visit: Visit) -> None:
    page = visit.open("/docs")
    advantage(page)

    linked = page.url
    page.goto("about:blank")
    page.goto(linked)

    assert "#" in linked
    expect(page.locator(".opblock.is-open [data-path='/v1/advantage']")).to_be_visible()


def test_swagger_ui_follows_the_readers_colour_scheme(visit: Visit) -> None:
    page = visit.open("/docs")
    expect(page.locator(".opblock").first).to_be_visible()
    light = "rgb(250, 250, 250)"

    for scheme in ("light", "dark", "light"):
        page.emulate_media(color_scheme=scheme)
        page.wait_for_function(
            "([light, wanted]) => wanted === [document.body, document.documentElement]"
            ".some(each => getComputedStyle(each).backgroundColor === light)",
            arg=[light, scheme == "light"],
        )


@EVERYWHERE
def test_redoc_renders_the_titles_of_every_operation_and_finds_what_is_searched_for(visit: Visit) -> None:
    page = visit.open("/redoc")

    expect(page.locator("h1").first).to_contain_text("mace")
    described = page.request.get(f"{visit.address}/openapi.json").json()
    summaries = [operation["summary"] for item in described["paths"].values() for operation in item.values()]
    expect(page.locator("h2", has_text=summaries[-1]).first).to_be_attached()
    titles = page.locator("h2").all_text_contents()
    assert [each for each in summaries if not any(each in title for title in titles)] == []
    expect(page.locator("[role=menu]").first).to_be_visible()

    page.get_by_role("search").locator("input").fill("advantage")

    expect(page.locator("[data-role='search:results'] li").first).to_be_visible()


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


def described_in_brief(document: dict[str, Any]) -> dict[str, Any]:
    """The description without what is slow to draw and fills in nothing: answers, schemas, most parameters."""
    for operation in operations(document):
        content = operation.get("requestBody", {}).get("content", {})
        named = operation.get("requestBody", {}).get(OPTIONS, {})
        operation["parameters"] = [
            each
            for each in operation.get("parameters", ())
            if each["name"] in named or {"example", "examples", "default", "enum"} & {*each, *each["schema"]}
        ]
        operation["responses"] = {"200": {"description": "an answer"}}
        for form, about in content.items():
            about["schema"] = {"type": "object" if form == JSON else "string"}
    schemas = document["components"]["schemas"]
    lists = {name: schema for name, schema in schemas.items() if "enum" in schema}
    return {**document, "components": {"schemas": lists}}


def operations(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Every operation, with its method and its path in it; those of a job need one that was made before."""
    for path, item in document["paths"].items():
        if "{name}" not in path:
            for method, operation in item.items():
                operation |= {"x-method": method, "x-path": path}
                yield operation


def test_every_example_of_every_operation_is_executed_and_answered(visit: Visit) -> None:
    """Whatever the page fills in, untouched: 200, and no option in the query string beside a JSON body."""
    described = unfold(visit.page.request.get(f"{visit.address}/openapi.json").json())
    asked = [
        (operation["x-method"], operation["x-path"], form, example)
        for operation in operations(described)
        for form, about in operation.get("requestBody", {}).get("content", {None: {}}).items()
        for example in about.get("examples", [] if form else [None])
    ]
    beside = {
        (operation["x-path"], form): form != JSON and OPTIONS in operation["requestBody"]
        for operation in operations(described)
        for form in operation.get("requestBody", {}).get("content", ())
    }

    def answer_in_brief(route: Route) -> None:
        route.fulfill(json=described_in_brief(unfold(route.fetch().json())))

    visit.page.route("**/openapi.json", answer_in_brief)
    page = visit.open("/docs")
    expect(page.locator(".opblock").first).to_be_visible()

    answers = page.evaluate(EXECUTE, asked)

    assert len(asked) > 100
    assert [(each, status) for each, (status, _) in zip(asked, answers, strict=True) if status != "200"] == []
    for (_, path, form, _), (_, query) in zip(asked, answers, strict=True):
        assert (query != "") == beside.get((path, form), False), (path, form, query)
