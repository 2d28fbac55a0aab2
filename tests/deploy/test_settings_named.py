import container_checks
from container_checks import settings_described, settings_named, settings_table


def test_every_variable_named_in_the_files_of_the_platform_is_a_setting():
    assert list(settings_named()) == []


def test_a_variable_that_is_no_setting_is_found(monkeypatch):
    monkeypatch.setattr(container_checks, "text", lambda _name: "MACE_WORKER: 2 and MACE_WORKERS: 2")

    found = list(settings_named())

    assert found == [f"{file} names MACE_WORKER, which is no setting" for file in container_checks.NAMES_SETTINGS]


def test_the_docs_describe_every_setting_with_its_default():
    assert list(settings_described()) == []


def test_the_table_has_a_line_for_each_setting_and_shows_sizes_in_mebibytes():
    table = settings_table()

    assert "| `MACE_PORT` | `8000` | port to listen on; 0 takes a free one |" in table
    assert any("`MACE_BODY_LIMIT` | `268435456` (256 MiB)" in line for line in table)
    assert any(line.startswith("| `MACE_API_KEY` | none |") for line in table)
