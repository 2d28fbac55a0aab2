"""`mace config`: every setting with its value, its origin and its meaning, and no secret."""

import tomllib
from pathlib import Path

from app.settings import Settings
from tests.app.cli.files import Done, typed_with

KEY = "correct-horse-battery-staple"


def config(line: str = "", **settings: str) -> Done:
    return typed_with(settings, f"config {line}")


def row(done: Done, name: str) -> list[str]:
    return next(line.split() for line in done.out.splitlines() if line.startswith(name + " "))


def test_every_setting_is_printed_with_its_value_its_origin_and_its_meaning(tmp_path: Path) -> None:
    (tmp_path / "mace.toml").write_text("queue = 7\nport = 1\n")
    done = config(config=str(tmp_path / "mace.toml"), port="9000")

    assert done.status == 0
    assert len(done.out.splitlines()) == len(Settings.model_fields)
    assert row(done, "MACE_PORT")[1:3] == ["9000", "environment"]
    assert row(done, "MACE_QUEUE")[1:3] == ["7", "file"]
    assert row(done, "MACE_HOST")[1:3] == ["127.0.0.1", "default"]
    assert row(done, "MACE_HOST")[3:] == ["address", "to", "listen", "on"]


def test_a_secret_is_never_printed() -> None:
    secrets = {
        "api_key": KEY,
        "otlp_endpoint": "http://user:sesame@collector",
        "store": "postgresql://mace:sesame@here/mace",
    }
    for line in ("", "--toml"):
        done = config(line, **secrets)
        assert done.status == 0
        assert KEY not in done.out + done.err
        assert "sesame" not in done.out + done.err
        assert "********" in done.out

    assert row(config(**secrets), "MACE_API_KEY")[1:4] == ["********", "(set)", "environment"]
    assert row(config(), "MACE_API_KEY")[1:4] == ["not", "set", "default"]


def test_the_file_it_prints_gives_the_same_settings(tmp_path: Path) -> None:
    given = {
        "port": "9000", "root_path": '/a"b\\c', "cors_origins": "https://a.example,https://b.example",
        "time_limit": "1.5", "open_to_everyone": "true", "api_key_file": str(tmp_path / "key"),
    }  # fmt: skip
    (tmp_path / "key").write_text(KEY)
    file = tmp_path / "mace.toml"
    file.write_text(config("--toml", **given).out)

    assert set(tomllib.loads(file.read_text())) < set(Settings.model_fields)
    with_file, with_variables = (
        [line.split()[:2] for line in done.out.splitlines()] for done in (config(config=str(file)), config(**given))
    )
    assert with_file == with_variables


def test_a_variable_that_is_no_setting_is_reported_with_the_nearest_name() -> None:
    done = config(workres="3")

    assert (done.status, done.err) == (0, "MACE_WORKRES is not a setting; did you mean MACE_WORKERS?\n")


def test_settings_that_cannot_be_used_are_said_and_not_repeated() -> None:
    done = config(port="sesame")

    assert done.status == 2
    assert "MACE_PORT" in done.err
    assert "sesame" not in done.err
