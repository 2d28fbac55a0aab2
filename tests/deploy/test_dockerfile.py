from pathlib import Path

import pytest
from manifests import dockerfile_faults, pinned, stages, values
from pins import project

ROOT = Path(__file__).resolve().parents[2]
OURS = (ROOT / "Dockerfile").read_text()
VERSION = project()["version"]


def test_our_dockerfile_has_no_fault():
    assert list(dockerfile_faults(OURS, VERSION)) == []


def test_the_stages_stand_on_the_base_that_the_build_argument_names_or_on_one_another():
    before, *of_image = stages(OURS)

    assert [stage[0]["value"].split()[0] for stage in of_image] == ["${BASE}", "build", "${BASE}"]
    assert pinned(values(before, "ARG")[0].removeprefix("BASE="))


@pytest.mark.parametrize(("image", "is_pinned"), [
    ("python", False), ("python:latest", False), ("python:slim", False), ("host:5000/python", False),
    ("python:3.13-slim", True), ("host:5000/python:3.13", True), ("python@sha256:" + "0" * 64, True),
])  # fmt: skip
def test_an_image_is_pinned_by_a_tag_with_a_number_or_by_a_digest(image, is_pinned):
    assert pinned(image) is is_pinned


@pytest.mark.parametrize(
    ("before", "after", "complaint"),
    [
        ("ARG BASE=python:3.13-slim-trixie", "ARG BASE=python:latest", "BASE is python:latest"),
        ("USER 10001:10001", "USER mace", "USER is not"),
        ("USER 10001:10001", "USER 0:0", "USER is not"),
        ("USER 10001:10001\n", "", "USER is not"),
        ('ENTRYPOINT ["mace"]', "ENTRYPOINT mace", "ENTRYPOINT is not"),
        ('CMD ["serve"]', "CMD serve", "CMD is not"),
        ('CMD ["python", "/opt/mace/healthcheck.py"]', "CMD curl -f localhost", "in exec form"),
        ("HEALTHCHECK", "LABEL a=b\n# HEALTHCHECK", "HEALTHCHECK does not stand"),
        ("STOPSIGNAL SIGTERM", "STOPSIGNAL SIGKILL", "STOPSIGNAL is not SIGTERM"),
        ("install --compile --require-hashes", "install --compile", "pip without --require-hashes"),
        ("--no-deps --no-index \\\n", "--no-deps \\\n", "pip without --require-hashes"),
        ("ARG OTEL=", "ARG PIP_INDEX_URL=", "stays in the image's history"),
        ("ARG OTEL=", "# syntax=docker/dockerfile:1", "names a syntax"),
        ("WORKDIR /src", "RUN apt-get update", "has no hash"),
        ("--compile --require-hashes", "--compile --index-url https://host --require-hashes", "an address"),
        ("WORKDIR /tmp", "RUN chmod -R a+w /opt", "RUN in the last stage"),
        ("PYTHONDONTWRITEBYTECODE=1", "PYTHONDONTWRITEBYTECODE=", "ENV.PYTHONDONTWRITEBYTECODE"),
        ("MACE_HOST=0.0.0.0", "MACE_HOST=127.0.0.1", "ENV.MACE_HOST"),
        ("FROM ${BASE}\n", "FROM python:3.13-slim\n", "every stage stands on"),
        (f'image.version="{VERSION}"', 'image.version="9.9.9"', "LABEL version is not"),
        (".title=", ".name=", "title is missing"),
        ("ARG BASE\n", "", "base.name is not ${BASE}"),
        ('base.name="${BASE}"', 'base.name="python:3.13"', "base.name is not ${BASE}"),
        ("scripts/sbom.py --prefix", "scripts/list.py --prefix", "makes no bill of materials"),
    ],
)
def test_a_fault_is_found(before, after, complaint):
    broken = OURS.replace(before, after)
    assert broken != OURS

    found = list(dockerfile_faults(broken, VERSION))

    assert any(complaint in fault for fault in found), found


def test_one_stage_is_too_few():
    found = list(dockerfile_faults("ARG BASE=python:3.13\nFROM ${BASE}\n", VERSION))

    assert "has fewer than two stages: what builds would be in what runs" in found
