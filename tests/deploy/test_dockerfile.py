from pathlib import Path

import pytest
from dockerfile import base, faults, instructions, pinned, stages

ROOT = Path(__file__).resolve().parents[2]
OURS = (ROOT / "Dockerfile").read_text()
VERSION = stages(OURS)[-1].all("LABEL")[0].rest.split('image.version="')[1].split('"')[0]


def test_our_dockerfile_has_no_fault():
    found = list(faults(OURS, VERSION))

    assert found == []


def test_continued_lines_and_comments_between_them_are_one_instruction():
    found = list(instructions("# a\nRUN one \\\n  # b\n  two\n\nuser 1:1\n"))

    assert [(i.line, i.word, i.rest) for i in found] == [(2, "RUN", "one two"), (6, "USER", "1:1")]


def test_both_stages_stand_on_the_base_that_the_build_argument_names():
    images = [stage.image for stage in stages(OURS)]

    assert images == ["${BASE}", "${BASE}"]
    assert pinned(base(OURS))


@pytest.mark.parametrize(
    ("image", "is_pinned"),
    [
        ("python", False),
        ("python:latest", False),
        ("python:slim", False),
        ("host:5000/python", False),
        ("python:3.13-slim", True),
        ("host:5000/python:3.13", True),
        ("python@sha256:" + "0" * 64, True),
    ],
)
def test_an_image_is_pinned_by_a_tag_with_a_number_or_by_a_digest(image, is_pinned):
    assert pinned(image) is is_pinned


@pytest.mark.parametrize(
    ("before", "after", "complaint"),
    [
        ("ARG BASE=python:3.13-slim-trixie", "ARG BASE=python:latest", "BASE is python:latest"),
        ("USER 10001:10001", "USER mace", "USER is not"),
        ("USER 10001:10001", "USER 0:0", "USER is not"),
        ("USER 10001:10001\n", "", "USER is not"),
        ("COPY app app", "ADD app app", "ADD unpacks"),
        ('ENTRYPOINT ["mace"]', "ENTRYPOINT mace", "not in exec form"),
        ('CMD ["serve"]', "CMD serve", "not in exec form"),
        (
            'CMD ["python", "/opt/mace/healthcheck.py"]',
            "CMD curl -f localhost",
            "HEALTHCHECK is not in exec form",
        ),
        ("HEALTHCHECK", "LABEL a=b\n# HEALTHCHECK", "HEALTHCHECK does not stand"),
        ("STOPSIGNAL SIGTERM", "STOPSIGNAL SIGKILL", "STOPSIGNAL is not SIGTERM"),
        ("--compile --require-hashes", "--compile", "pip without --require-hashes"),
        ("--no-deps --no-index \\\n", "--no-deps \\\n", "pip without --require-hashes"),
        ("ARG OTEL=", "ARG PIP_INDEX_URL=", "stays in the image's history"),
        ("ARG OTEL=", "# syntax=docker/dockerfile:1", "names a syntax"),
        ("WORKDIR /src", "RUN apt-get update", "has no hash"),
        (
            "--require-hashes --requirement",
            "--index-url https://host --require-hashes --requirement",
            "an address",
        ),
        ("WORKDIR /tmp", "RUN chmod -R a+w /opt", "RUN in the last stage"),
        ("PYTHONDONTWRITEBYTECODE=1", "PYTHONDONTWRITEBYTECODE=", "ENV PYTHONDONTWRITEBYTECODE"),
        ("MACE_HOST=0.0.0.0", "MACE_HOST=127.0.0.1", "ENV MACE_HOST"),
        ("FROM ${BASE}\n", "FROM python:3.13-slim\n", "every stage stands on"),
        (f'image.version="{VERSION}"', 'image.version="9.9.9"', "image.version is not"),
        (".title=", ".name=", "image.title is missing"),
        ("ARG BASE\n", "", "base.name is not ${BASE}"),
        ('base.name="${BASE}"', 'base.name="python:3.13"', "base.name is not ${BASE}"),
        ("scripts/sbom.py --prefix", "scripts/list.py --prefix", "makes no bill of materials"),
    ],
)
def test_a_fault_is_found(before, after, complaint):
    broken = OURS.replace(before, after)
    assert broken != OURS

    found = list(faults(broken, VERSION))

    assert any(complaint in fault for fault in found), found


def test_one_stage_is_too_few():
    found = list(faults("ARG BASE=python:3.13\nFROM ${BASE}\n", VERSION))

    assert found == ["has fewer than two stages: what builds would be in what runs"]
