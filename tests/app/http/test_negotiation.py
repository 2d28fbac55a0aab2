"""Headers of a request: what came, what is wanted."""

import pytest
from starlette.datastructures import Headers

from app.http.operations import accepted, encoding, media_type
from macekit.call import ARROW, CSV, JSON, NDJSON
from macekit.problems import Problem
from tests.cases import each_case

FORMS = (JSON, CSV, ARROW)


IMAGES = [f"image/x{i}" for i in range(32)]
ACCEPTED = {
    JSON: [
        *("*/*", "", "text/csv;q=0.5, application/json", "text/html,application/xhtml+xml,*/*;q=0.8"),
        *("APPLICATION/JSON", ", ".join([*IMAGES, "text/csv"])),
    ],
    CSV: [
        *("text/csv", "text/*", "text/csv, application/json;q=0.9", "application/json;q=0, */*"),
        *("application/json;q=nan, text/csv;q=0.001", "application/json;q=5, text/csv;q=0.5", " , ,text/csv,"),
        ", ".join([*IMAGES[1:], "text/csv", "*/*"]),
        ", ".join(["application/json;q=0", *IMAGES]),
    ],
    ARROW: [f"{ARROW}; q=1.0, */*; q=0.1"],
}


@each_case("form, accept", [(form, accept) for form in ACCEPTED for accept in ACCEPTED[form]])
def test_the_form_the_client_likes_best_is_taken(form: str, accept: str) -> None:
    assert accepted(Headers({"accept": accept} if accept else {}), FORMS) == form


@each_case(
    "accept", ["image/png", "application/json;q=0", "application/json;q=zero", "*/*;q=nan", "*/*;q=inf", "*/*;q=-1"]
)
def test_a_form_that_does_not_exist_is_refused(accept: str) -> None:
    with pytest.raises(Problem, match="exists as application/json"):
        accepted(Headers({"accept": accept}), (JSON,))


def test_several_lines_of_accept_are_one_list() -> None:
    lines = [(b"accept", b"image/png"), (b"accept", b"text/csv;q=0.9, application/json;q=0.1")]

    assert accepted(Headers(raw=lines), FORMS) == CSV


@each_case(
    "given, kind",
    ("Application/JSON; charset=utf-8", JSON),
    *((name, NDJSON) for name in ("application/x-ndjson", "application/jsonl", "Application/NDJSON; charset=utf-8")),
)
def test_a_media_type_is_read_without_its_parameters_and_lines_of_json_go_by_several_names(given, kind) -> None:
    assert media_type(Headers({"content-type": given}), (*FORMS, NDJSON)) == kind


@each_case("forms, other", [((JSON,), False), (FORMS, True)])
def test_a_request_with_nothing_in_it_is_told_what_it_lacks(forms: tuple[str, ...], other: bool) -> None:
    for headers in ({}, {"content-length": "0"}):
        with pytest.raises(Problem, match="the body: is missing") as caught:
            media_type(Headers(headers), forms)

        assert caught.value.kind.slug == "missing-field"
        assert ("data=NAME" in caught.value.detail) == other


@each_case(
    "headers", [{"content-length": "5"}, {"transfer-encoding": "chunked"}, {"content-type": "text/plain-secret"}]
)
def test_an_unknown_media_type_is_refused_without_repeating_it(headers: dict[str, str]) -> None:
    with pytest.raises(Problem) as caught:
        media_type(Headers(headers), FORMS)

    assert caught.value.kind.status == 415
    assert "secret" not in caught.value.detail


@each_case("given", ["br", "gzip, gzip", "deflate"])
def test_an_unknown_compression_is_refused(given: str) -> None:
    with pytest.raises(Problem, match="identity, gzip or zstd"):
        encoding(Headers({"content-encoding": given}))


@each_case("given", ["application/x-pickle", "application/python-pickle", "application/x-joblib"])
def test_a_pickle_is_refused_by_its_name(given: str) -> None:
    with pytest.raises(Problem, match="never opens") as caught:
        media_type(Headers({"content-type": given}), FORMS)

    assert caught.value.kind.slug == "pickle"
