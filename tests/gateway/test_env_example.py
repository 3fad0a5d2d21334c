"""`.env.example` lists the current settings."""

from gateway.errors import Refusals
from gateway.settings.env_example import render
from gateway.settings.settings import setting_names
from gateway.settings.sources import parse_dotenv, read_dotenv
from tests.process import REPOSITORY

FILE = REPOSITORY / ".env.example"


def test_env_example_is_current() -> None:
    assert FILE.read_text() == render(), "run: python -m gateway.settings.env_example > .env.example"


def test_it_names_every_setting_and_sets_none() -> None:
    refusals = Refusals()
    values = parse_dotenv(render(), FILE, refusals)

    assert set(values) >= set(setting_names().flat)
    assert {value for value, _ in values.values()} == {""}
    assert read_dotenv(values, FILE, setting_names(), refusals) == {}
    assert refusals.sentences == []


def test_every_setting_has_a_comment() -> None:
    lines = render().splitlines()

    for name in setting_names().flat:
        assert lines[lines.index(f"{name}=") - 1].startswith("# "), name
    assert "None" not in render()
