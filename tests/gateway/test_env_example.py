"""`.env.example` and docs/settings.md list the current settings."""

from gateway.errors import Refusals
from gateway.settings import page
from gateway.settings.env_example import render
from gateway.settings.run_time import changeable
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


def test_the_page_of_settings_is_current_and_says_what_a_chat_may_change() -> None:
    text = (REPOSITORY / "docs" / "settings.md").read_text()

    assert text == page.render(), "run: python -m gateway.settings.page > docs/settings.md"
    rows = {row.split(" | ")[1].strip("`"): row for row in text.splitlines() if row.startswith("| `")}
    assert len(rows) == len(setting_names().flat)
    live = {name for name, row in rows.items() if row.endswith(("| now |", "| tonight |", "| next stop |"))}
    assert live == set(changeable())
    for name in ("owners", "openai_base_url", "commands_network", "telegram.bot_token", "permissions.owner"):
        assert rows[name].endswith("| never from a chat |")
