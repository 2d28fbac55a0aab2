"""The operations over a real socket: one answer, whatever the format, the compression and the way it is sent."""

import http.client
import io
import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv

from app.openapi.examples import JSON_EXAMPLES
from estimators import AssessOptions, Counts, Scores, assess, preset
from estimators.sample.counting import by_grid
from macekit.call import ARROW, CSV, JSON, NPY
from macekit.operations import encode
from macekit.operations.encode import json_bytes
from macekit.operations.options import reading, target
from macekit.schemas.questions import Estimator
from tests.app.http.asked import ENCODERS, TABLES, as_csv, as_json, ok, post, table, world
from tests.app.running import Running

OPTIONS: dict[str, Any] = {
    "prior": 0.3, "confidence": 0.9, "seed": 7, "max_advantage": 0.45, "claimed_epsilon": 1.5,
    "claimed_delta": 1e-6, "operating_points": [0.05, 0.2], "metric": {"preset": "f_beta", "beta": 2},
    "estimator": {"kind": "kde", "bandwidth": 0.3}, "query": "continuous",
}  # fmt: skip
SPELT = (
    "prior=0.3&confidence=0.9&seed=7&max_advantage=0.45&claimed_epsilon=1.5&claimed_delta=1e-6"
    "&operating_points=0.05,0.2&metric.preset=f_beta&metric.beta=2&estimator.kind=kde&estimator.bandwidth=0.3"
    "&query=continuous"
)


@pytest.mark.parametrize("media_type", TABLES)
def test_every_format_gets_the_answer_that_json_gets(media_type: str, service: Running) -> None:
    sides = world(300)
    answer = ok(post(service, f"/v1/advantage?{SPELT}", TABLES[media_type](table(*sides)), media_type))

    by_field = ok(post(service, "/v1/advantage", as_json(*sides, **OPTIONS)))
    assert taken(answer) == NAMES.get(media_type, {"score": "score", "member": "member"})
    assert taken(by_field) == {"members": "members", "nonmembers": "nonmembers"}
    assert answer == by_field


@pytest.mark.parametrize("encoding", ENCODERS)
@pytest.mark.parametrize("media_type", [JSON, *TABLES])
def test_a_compressed_body_is_the_body(media_type: str, encoding: str, service: Running) -> None:
    sides = world(50)
    body = as_json(*sides) if media_type == JSON else TABLES[media_type](table(*sides))
    packed = ENCODERS[encoding](body)

    answer = post(service, "/v1/audit", packed, media_type, {"Content-Encoding": encoding})

    assert answer.body == post(service, "/v1/audit", body, media_type).body
    assert answer.status == 200


@pytest.mark.parametrize("records", [40, 3000])  # answered in the server, and by a worker
@pytest.mark.parametrize("options", [{}, OPTIONS])
def test_the_numbers_are_those_of_the_library(records: int, options: dict[str, Any], service: Running) -> None:
    sides = world(records)
    data = Scores.of(*sides, options.get("query", "auto"))
    estimator = Estimator(**options.get("estimator", {}))
    shared = ("prior", "confidence", "seed", "max_advantage", "claimed_epsilon", "claimed_delta")
    assess_options = AssessOptions(
        **{name: options[name] for name in shared if name in options},
        **({"operating_points": tuple(options["operating_points"])} if options else {}),
        target=target(estimator),
        reading=reading(estimator),
        metric=preset("f_beta", 0.3, beta=2) if options else preset("accuracy", 0.5),
    )

    answer = ok(post(service, "/v1/advantage", as_json(*sides, **options)))

    found = assess(data, assess_options)
    assert answer["advantage"]["lower"] == found.advantage.lower
    assert answer["metric"]["upper"] == found.metric.interval.upper  # type: ignore[union-attr]
    stated, read = answer["provenance"]["options"], answer["provenance"]["columns"]
    assert answer == json.loads(json_bytes(encode.assessment(found, data, stated, read)))


NAMES = {NPY: {"score": "0", "member": "1"}}
"""What columns are called that have no names."""


def taken(answer: dict[str, Any]) -> dict[str, str]:
    """The columns that were read, by what they were taken for, which is all that formats differ in; taken out."""
    read = (answer if "columns" in answer else answer["provenance"]).pop("columns")
    return {each["role"]: each["name"] for each in read}


def test_the_same_request_twice_gives_the_same_bytes(service: Running) -> None:
    for records in (40, 3000):
        body = as_json(*world(records), max_advantage=0.1)
        assert post(service, "/v1/advantage", body).body == post(service, "/v1/advantage", body).body


def pieces(body: bytes) -> Iterator[bytes]:
    for start in range(0, len(body), 50_000):
        yield body[start : start + 50_000]


@pytest.mark.parametrize("media_type", TABLES)
def test_counts_of_a_body_without_a_length_are_those_of_the_records(media_type: str, service: Running) -> None:
    members, nonmembers = world(6_000)
    body = TABLES[media_type](table(members, nonmembers))
    connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=60)
    headers = {"Content-Type": media_type, "Transfer-Encoding": "chunked"}

    connection.request("POST", "/v1/counts", pieces(body), headers, encode_chunked=True)
    streamed = json.loads(connection.getresponse().read())
    connection.close()

    by_field = ok(post(service, "/v1/counts", as_json(members, nonmembers)))
    assert taken(streamed) == NAMES.get(media_type, {"score": "score", "member": "member"})
    assert taken(by_field) == {"members": "members", "nonmembers": "nonmembers"}
    assert streamed == by_field
    assert streamed["counts"] == json.loads(json_bytes(by_grid(Scores.of(members, nonmembers)).to_dict()))


def test_counts_can_be_posted_back_wherever_scores_can(service: Running) -> None:
    sides = world(2000)
    counted = ok(post(service, "/v1/counts", as_json(*sides)))["counts"]
    counts = Counts.from_dict(counted)

    answer = ok(post(service, "/v1/advantage", {"counts": counted, "prior": 0.2}))

    found = assess(counts, AssessOptions(prior=0.2, metric=preset("accuracy", 0.2)))
    source = answer["provenance"]
    assert [each["kind"] for each in source["columns"]] == ["counts"]
    expected = encode.assessment(found, counts, source["options"], source["columns"])
    assert answer == json.loads(json_bytes(expected))
    for path in ("metrics", "audit", "counts"):
        ok(post(service, f"/v1/{path}", {"counts": counted}))
    ok(post(service, "/v1/individual-risk", {"counts": counted, "targets": [0.5]}))


def test_groups_units_and_the_score_column_of_a_table_are_those_of_json(service: Running) -> None:
    members, nonmembers = world(60)
    groups = ["a", "b", "ä, =1+1"] * 42 + ["a"]
    units = [i // 2 for i in range(127)]
    body = as_csv(table(members, nonmembers, kind=groups, whose=units, loss=units))

    answer = ok(post(service, "/v1/individual-risk?score=score&group=kind&unit=whose&top=5&seed=3", body, CSV))

    asked = as_json(members, nonmembers, groups=groups, units=[str(unit) for unit in units], top=5, seed=3)
    wanted = ok(post(service, "/v1/individual-risk", asked))
    wanted["provenance"]["options"] |= {"score": "score", "group": "kind", "unit": "whose"}
    assert taken(answer) == {"score": "score", "member": "member", "group": "kind", "unit": "whose"}
    assert [*taken(wanted)] == ["members", "nonmembers", "groups", "units"]
    assert answer == wanted
    assert {group["label"] for group in answer["groups"]} == set(groups)
    assert len(answer["records"]["index"]) == 5


@pytest.mark.parametrize("path", ["gate", "metrics", "individual-risk", "audit", "attack", "report"])
def test_every_question_takes_clusters_in_json_and_in_a_query(service: Running, path: str) -> None:
    members, nonmembers = world(60)
    labels = [i // 2 for i in range(127)]
    more, query = MORE.get(path, ({}, ""))
    body = as_csv(table(members, nonmembers, whose=labels))

    answers = [
        ok(post(service, f"/v1/{path}?score=score&cluster=whose{query}", body, CSV)),
        ok(post(service, f"/v1/{path}", as_json(members, nonmembers, cluster={"whose": labels}, **more))),
    ]

    for each in answers:
        each.pop("provenance")
        each.get("result", {}).pop("provenance", None)
        each.get("records", {}).pop("index", None)
    assert answers[0] == answers[1]
    assert "lone_rows" in str(answers[0])
    assert "'numbers': [64]" in str(answers[0])


MORE: dict[str, tuple[dict[str, Any], str]] = {
    "gate": ({"max_advantage": 0.5}, "&max_advantage=0.5"),
    "individual-risk": ({"top": 3}, "&top=3"),
    "audit": ({"claimed_epsilon": 1.0}, "&claimed_epsilon=1.0"),
    "attack": ({"rule": {"kind": "top"}}, "&rule.kind=top"),
}
"""What a question lacks, in JSON and in a query."""


def test_targets_are_answered_in_their_order(service: Running) -> None:
    sides = world(200)
    whole = ok(post(service, "/v1/individual-risk", as_json(*sides)))["records"]
    chosen = [150, 3, 77]
    targets = [float(np.concatenate(sides)[i]) for i in chosen]

    found = ok(post(service, "/v1/individual-risk", as_json(*sides, targets=targets)))["records"]

    assert found["index"] == [0, 1, 2]
    for name in ("risk", "lower", "upper", "signed_risk", "posterior", "cell"):
        assert found[name] == [whole[name][i] for i in chosen]


HOSTILE = [
    "=cmd|' /C calc'!A0", "@SUM(1+1)*cmd", "<script>alert(1)</script>",
    "</title><img src=x onerror=alert(1)>", "\u202egnirts\u202c", "العربية", 'a"b\\c\n\r\t\u0001\u2028',
    "x" * 1000,
]  # fmt: skip


def test_hostile_labels_travel_as_json_strings_and_nowhere_else(service: Running) -> None:
    sides = world(60)
    body = as_json(*sides, groups=(HOSTILE * 16)[:127])

    answer = post(service, "/v1/individual-risk", body)

    assert {group["label"] for group in ok(answer)["groups"]} == set(HOSTILE)
    assert answer.headers["content-type"] == JSON
    assert answer.headers["x-content-type-options"] == "nosniff"
    rows = post(service, "/v1/individual-risk", body, JSON, {"Accept": CSV})
    assert rows.headers["content-type"].startswith(CSV)
    assert b"=" not in rows.body
    assert b"script" not in rows.body
    assert csv.read_csv(io.BytesIO(rows.body)).num_rows == 127
    stream = post(service, "/v1/individual-risk", body, JSON, {"Accept": ARROW}).body
    assert pa.ipc.open_stream(stream).read_all().num_rows == 127
    assert b"script" not in stream


@pytest.mark.slow
def test_fifty_requests_at_once_each_get_their_own_answer(service: Running) -> None:
    sides = world(400)
    kinds = [("/v1/advantage", as_json(*world(40, seed)), JSON) for seed in range(6)]
    kinds += [("/v1/advantage", as_json(*world(2500, seed)), JSON) for seed in range(4)]
    kinds += [("/v1/counts", TABLES[m](table(*sides)), m) for m in TABLES]
    kinds += [
        (f"/v1/{name}", json.dumps(example.value).encode(), JSON)
        for name, some in JSON_EXAMPLES.items()
        for example in some.values()
        if name != "plan"
    ]
    kinds = kinds[:30]

    with ThreadPoolExecutor(50) as threads:
        together = list(threads.map(lambda kind: post(service, *kind), [*kinds, *kinds[:20]]))

    assert {answer.status for answer in together} == {200}
    alone = [post(service, *kind).body for kind in kinds]
    assert [answer.body for answer in together] == [*alone, *alone[:20]]
