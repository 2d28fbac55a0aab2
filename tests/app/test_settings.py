import os
from collections.abc import Callable
from pathlib import Path

import pytest

from app.settings import BadSettings, Settings, load, unknown_variables
from tests.cases import each_case

KEY = "correct-horse-battery-staple"


Env = Callable[..., None]


@pytest.fixture(autouse=True)
def bare_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.upper().startswith("MACE_")]:
        monkeypatch.delenv(name)


@pytest.fixture
def env(monkeypatch: pytest.MonkeyPatch) -> Env:
    """Set variables, named without their prefix."""

    def put(**variables: object) -> None:
        for name, value in variables.items():
            monkeypatch.setenv(f"MACE_{name}", str(value))

    return put


def refused() -> str:
    with pytest.raises(BadSettings) as caught:
        load()
    return str(caught.value)


def test_without_any_setting_the_service_listens_on_this_machine_alone() -> None:
    settings = load()

    assert (settings.host, settings.port, settings.local, settings.key) == ("127.0.0.1", 8000, True, None)


def test_a_variable_wins_over_the_file_and_the_file_over_the_default(env: Env, tmp_path: Path) -> None:
    file = tmp_path / "mace.toml"
    file.write_text('port = 9000\nqueue = 7\ncors_origins = ["https://a.example"]\n')
    env(CONFIG=file, PORT=9001)

    settings = load()

    assert (settings.port, settings.queue, settings.workers) == (9001, 7, 0)
    assert settings.cors_origins == ("https://a.example",)


def test_names_are_separated_by_commas(env: Env) -> None:
    env(CORS_ORIGINS="https://a.example, https://b.example,", TRUSTED_PROXIES="10.0.0.1, 10.1.0.0/16, ::1, fd00::/8")

    assert load().cors_origins == ("https://a.example", "https://b.example")
    assert load().trusted_proxies == ("10.0.0.1", "10.1.0.0/16", "::1", "fd00::/8")


@each_case("host", ["0.0.0.0", "::", "192.0.2.1", "example.org", ""])
def test_beyond_this_machine_a_key_is_needed(env: Env, host: str) -> None:
    env(HOST=host)

    message = refused()

    assert "MACE_API_KEY" in message
    assert "MACE_OPEN_TO_EVERYONE=true" in message


@each_case("host", ["localhost", "127.0.0.1", "127.8.8.8", "::1"])
def test_on_this_machine_no_key_is_needed(env: Env, host: str) -> None:
    env(HOST=host)

    assert load().local


def test_said_in_so_many_words_it_may_be_open_to_everyone(env: Env) -> None:
    env(HOST="0.0.0.0", OPEN_TO_EVERYONE="true")

    assert load().key is None


def test_the_key_comes_from_a_variable_or_from_a_file(
    env: Env, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    env(API_KEY=KEY)
    assert load().key == KEY.encode()
    monkeypatch.delenv("MACE_API_KEY")
    (tmp_path / "key").write_text(KEY + "\n")
    env(API_KEY_FILE=tmp_path / "key")

    assert load().key == KEY.encode()


@pytest.mark.parametrize(
    ("variable", "value", "says"),
    [
        ("API_KEY", "sesame", "MACE_API_KEY: a key is 16 or more"),
        ("API_KEY", "sesame with spaces in it", "MACE_API_KEY: a key is 16 or more"),
        ("API_KEY_FILE", "/sesame/sesame", "MACE_API_KEY_FILE: the file cannot be read (FileNotFoundError)"),
        ("STORE", "sesame", "MACE_STORE: need an address such as postgresql://"),
        ("STORE_FILE", "/sesame/sesame", "MACE_STORE_FILE: the file cannot be read (FileNotFoundError)"),
        ("PORT", "sesame", "MACE_PORT: "),
        ("PORT", "70000", "MACE_PORT: Input should be less than or equal to 65535"),
        ("LOG_FORMAT", "sesame", "MACE_LOG_FORMAT: Input should be 'json' or 'text'"),
        ("ROOT_PATH", "sesame", "MACE_ROOT_PATH: a path begins with a slash"),
        ("DATA", "sesame://bucket/x", "MACE_DATA: an address begins with one of s3://, gs://"),
        ("DATA", "file:///sesame", "MACE_DATA: an address begins with one of s3://, gs://"),
        ("DATA", "s3://key:sesame@bucket/x", "MACE_DATA: an address holds no key here"),
        ("DATA", "s3://bucket/x?region=a&secret_key=sesame", "MACE_DATA: an address holds no key here"),
        ("DATA", "abfs://bucket/x?sig=sesame", "MACE_DATA: an address holds no key here"),
        ("OPEN_TO_EVERYONE", "sesame", "MACE_OPEN_TO_EVERYONE: "),
        ("CONFIG", "/sesame/sesame", "MACE_CONFIG: the file cannot be read (FileNotFoundError)"),
    ],
)
def test_a_bad_setting_is_named_and_its_value_is_not_repeated(env: Env, variable: str, value: str, says: str) -> None:
    env(**{variable: value})

    message = refused()

    assert message.startswith(says)
    assert "sesame" not in message
    assert "pydantic" not in message


def test_every_bad_setting_has_its_line(env: Env) -> None:
    env(PORT=-1, QUEUE=-1)

    assert [line.split(":")[0] for line in refused().splitlines()] == ["MACE_PORT", "MACE_QUEUE"]


ADDRESS = "postgresql://mace:sesame@here/mace"


@pytest.mark.parametrize(("given", "says"), [
    ({"API_KEY": KEY, "API_KEY_FILE": "/nowhere"}, "give one of MACE_API_KEY, MACE_API_KEY_FILE and MACE_KEYS_FILE"),
    ({"STORE": ADDRESS, "STORE_FILE": "/nowhere"}, "give one of MACE_STORE and MACE_STORE_FILE"),
    ({"STORE": ADDRESS, "RUNS_FILE": "/nowhere"},
     "MACE_RUNS_FILE: goes without a store, where runs are remembered"),
])  # fmt: skip
def test_one_thing_is_not_said_twice(env: Env, given: dict[str, str], says: str) -> None:
    env(**given)
    assert refused() == says


def test_the_address_of_a_store_comes_from_a_variable_or_from_a_file(env: Env, tmp_path: Path) -> None:
    (tmp_path / "store").write_text("postgresql://mace@here/mace\n")
    env(STORE_FILE=str(tmp_path / "store"))

    assert load().store_address == "postgresql://mace@here/mace"


@each_case(
    "text, says",
    ("prot = 8000\n", "MACE_CONFIG: prot is not a setting; did you mean port?"),
    ("api_key = sesame\n", "MACE_CONFIG: the file is not TOML (at line 1, column 11)"),
    ('port = "sesame"\n', "MACE_PORT: "),
)
def test_a_bad_file_is_refused_without_repeating_it(env: Env, tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "mace.toml").write_text(text)
    env(CONFIG=tmp_path / "mace.toml")

    message = refused()

    assert message.startswith(says)
    assert "sesame" not in message


def test_an_unknown_variable_is_reported_with_the_nearest_name(env: Env) -> None:
    env(**dict.fromkeys(("WORKRES", "XYZZY", "CONFIG", "AUDIT_ONLINE", "TEST_BROWSER", "PORT"), ""))

    assert unknown_variables() == {"MACE_WORKRES": "MACE_WORKERS", "MACE_XYZZY": None}


def test_every_setting_is_described_and_the_key_is_not_shown() -> None:
    assert all(field.description for field in Settings.model_fields.values())
    assert KEY not in repr(Settings(api_key=KEY))


@each_case("proxies", ["not-an-ip", "*", "10.0.0.0/33", "10.0.0.1/8", "10.0.0.1,proxy.example"])
def test_a_proxy_that_is_neither_an_address_nor_a_network_is_refused(env: Env, proxies: str) -> None:
    env(TRUSTED_PROXIES=proxies)

    message = refused()

    assert message.startswith("MACE_TRUSTED_PROXIES: entry ")
    assert proxies not in message


@each_case("hosts", ["*", "mace.example:8000", "http://mace.example", "::1", "a b"])
def test_a_host_that_no_header_could_hold_is_refused(env: Env, hosts: str) -> None:
    env(ALLOWED_HOSTS=hosts)

    assert refused().startswith("MACE_ALLOWED_HOSTS: entry 1 ")
