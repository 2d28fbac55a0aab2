from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

from app.settings import Settings

KEY = "correct-horse-battery-staple"


def config(*arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
    bare = {name: value for name, value in os.environ.items() if not name.startswith("MACE_")}
    told = {f"MACE_{name.upper()}": value for name, value in settings.items()}
    return subprocess.run(
        [sys.executable, "-m", "app.cli", "config", *arguments],
        env=bare | told,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def row(output: str, name: str) -> list[str]:
    return next(line.split() for line in output.splitlines() if line.startswith(name + " "))


def test_every_setting_is_printed_with_its_value_its_origin_and_its_meaning(tmp_path: Path) -> None:
    (tmp_path / "mace.toml").write_text("queue = 7\nport = 1\n")
    done = config(config=str(tmp_path / "mace.toml"), port="9000")

    assert done.returncode == 0
    assert len(done.stdout.splitlines()) == len(Settings.model_fields)
    assert row(done.stdout, "MACE_PORT")[1:3] == ["9000", "environment"]
    assert row(done.stdout, "MACE_QUEUE")[1:3] == ["7", "file"]
    assert row(done.stdout, "MACE_HOST")[1:3] == ["127.0.0.1", "default"]
    assert row(done.stdout, "MACE_HOST")[3:] == ["address", "to", "listen", "on"]


def test_a_secret_is_never_printed(tmp_path: Path) -> None:
    secrets = {"api_key": KEY, "otlp_endpoint": "http://user:sesame@collector"}
    for arguments in ([], ["--toml"]):
        done = config(*arguments, **secrets)
        assert done.returncode == 0
        assert KEY not in done.stdout + done.stderr
        assert "sesame" not in done.stdout + done.stderr
        assert "********" in done.stdout

    assert row(config(**secrets).stdout, "MACE_API_KEY")[1:4] == ["********", "(set)", "environment"]
    assert row(config().stdout, "MACE_API_KEY")[1:4] == ["not", "set", "default"]


def test_the_file_it_prints_gives_the_same_settings(tmp_path: Path) -> None:
    given = {
        "port": "9000",
        "root_path": '/a"b\\c',
        "cors_origins": "https://a.example,https://b.example",
        "time_limit": "1.5",
        "open_to_everyone": "true",
        "api_key_file": str(tmp_path / "key"),
    }
    (tmp_path / "key").write_text(KEY)
    file = tmp_path / "mace.toml"
    file.write_text(config("--toml", **given).stdout)

    assert set(tomllib.loads(file.read_text())) < set(Settings.model_fields)
    with_file, with_variables = config(config=str(file)), config(**given)
    assert [line.split()[:2] for line in with_file.stdout.splitlines()] == [
        line.split()[:2] for line in with_variables.stdout.splitlines()
    ]


def test_a_variable_that_is_no_setting_is_reported_with_the_nearest_name() -> None:
    done = config(workres="3")

    assert done.returncode == 0
    assert done.stderr == "MACE_WORKRES is not a setting; did you mean MACE_WORKERS?\n"


def test_settings_that_cannot_be_used_are_said_and_not_repeated() -> None:
    done = config(port="sesame")

    assert done.returncode == 2
    assert "MACE_PORT" in done.stderr
    assert "sesame" not in done.stderr
