"""`.env.example` says what can be set, as it is now."""

from gateway.env_example import render
from gateway.setting_sources import parse_dotenv, read_dotenv
from gateway.settings import setting_names
from tests.process import REPOSITORY

FILE = REPOSITORY / ".env.example"


def test_env_example_is_current() -> None:
    assert FILE.read_text() == render(), "run: python -m gateway.env_example > .env.example"


def test_it_names_every_setting_and_sets_none() -> None:
    values = parse_dotenv(render(), FILE)

    assert set(values) >= set(setting_names().flat)
    assert {value for value, _ in values.values()} == {""}
    assert read_dotenv(values, FILE, setting_names()) == {}


def test_every_setting_has_a_comment() -> None:
    lines = render().splitlines()

    for name in setting_names().flat:
        assert lines[lines.index(f"{name}=") - 1].startswith("# "), name
    assert "None" not in render()
