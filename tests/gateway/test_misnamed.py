"""All errors in the settings are reported at once, and misspelt names get a suggestion."""

from collections.abc import Callable
from pathlib import Path

import pytest

from channels.checkup import note
from gateway.errors import SettingsError
from gateway.settings.settings import Settings, load_settings, read_settings

BOT = "1234567890:AbCdEfGh"


@pytest.fixture
def load(tmp_path: Path) -> Callable[..., Settings]:
    """Return a function that loads settings from files in PARLEY_HOME and from an environment."""

    def from_these(*, toml: str = "", dotenv: str = "", **environ: str) -> Settings:
        (tmp_path / "parley.toml").write_text(toml)
        (tmp_path / ".env").write_text(dotenv)
        return load_settings({"HOME": str(tmp_path), "PARLEY_HOME": str(tmp_path), **environ}, tmp_path)

    return from_these


def test_a_start_tells_everything_that_is_wrong_at_once(load: Callable[..., Settings], tmp_path: Path) -> None:
    with pytest.raises(SettingsError) as refused:
        load(
            toml='langauge = "en"\n[web]\nport = "many"\n[mcp.weather]\nurl = "ftp://x"',
            dotenv="TELEGRAM_BOT_TOKEN=nonsense\nSLACK_BOT_TOKEN=xoxb-12345\nSLACK_APP_TOKEN=wrong\nno setting",
            PARLEY_AUDIT="perhaps",
            PARLEY_MODLE="ollama/qwen3",
        )

    told = "\n".join(refused.value.sentences)
    for words in (
        "PARLEY_MODLE in the environment; did you mean PARLEY_MODEL?",
        f"langauge in {tmp_path}/parley.toml, line 1; did you mean language?",
        f"{tmp_path}/.env, line 4 is not of the form NAME=value",
        f"TELEGRAM_BOT_TOKEN in {tmp_path}/.env, line 1 does not look like a bot token",
        f"SLACK_APP_TOKEN in {tmp_path}/.env, line 3 does not look like an app-level token",
        f"url in {tmp_path}/parley.toml, line 5 must begin with https://",
        "PARLEY_AUDIT in the environment must be on or off",
        f"web.port in {tmp_path}/parley.toml, line 3 must be a whole number",
    ):
        assert words in told
    assert len(refused.value.sentences) == 8
    assert str(refused.value) == told


def test_what_is_well_is_read_beside_what_is_wrong(load: Callable[..., Settings], tmp_path: Path) -> None:
    (tmp_path / "parley.toml").write_text('[web]\nport = "many"\nperson = "Ann"\n[limits]\nminutes = -1')
    environ = {"HOME": str(tmp_path), "PARLEY_CHECKOUT": str(tmp_path), "TELEGRAM_BOT_TOKEN": BOT}

    settings, refusals = read_settings({**environ, "SLACK_BOT_TOKEN": "wrong"}, tmp_path)

    assert len(refusals.sentences) == 3
    assert list(settings.channels) == ["telegram"]
    assert (settings.web.person, settings.web.port) == ("Ann", 8765)


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("OPENAI_KEY", "OPENAI_API_KEY"),
        ("OPENAI_API_TOKEN", "OPENAI_API_KEY"),
        ("OPENAI_APIKEY", "OPENAI_API_KEY"),
        ("OPEN_AI_KEY", "OPENAI_API_KEY"),
        ("OPENAAI_API_KEY", "OPENAI_API_KEY"),
        ("ANTHROPIC_KEY", "ANTHROPIC_API_KEY"),
        ("CLAUDE_API_KEY", "ANTHROPIC_API_KEY"),
        ("GROK_API_KEY", "XAI_API_KEY"),
        ("BRAVE_KEY", "BRAVE_API_KEY"),
        ("TELEGRAM_TOKEN", "TELEGRAM_BOT_TOKEN"),
        ("TELEGRAM_BOT_KEY", "TELEGRAM_BOT_TOKEN"),
        ("SLACK_TOKEN", "SLACK_BOT_TOKEN"),
        ("SLACK_APP_KEY", "SLACK_APP_TOKEN"),
        ("SLACK_SIGNING_KEY", "SLACK_SIGNING_SECRET"),
        ("DISCORD_TOKEN", "DISCORD_BOT_TOKEN"),
    ],
)
def test_a_name_that_is_nearly_that_of_a_key_is_noted(load: Callable[..., Settings], name: str, meant: str) -> None:
    settings = load(**{name: "something"})

    assert settings.warnings == (note(f"{name} in the environment is set and not used", f"did you mean {meant}?"),)


@pytest.mark.parametrize(
    "name",
    [
        *("PATH", "HOME_KEY", "TOKEN", "API_KEY", "AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN", "NPM_TOKEN", "HF_TOKEN"),
        *("OPENAI_ORG_ID", "OPENAI_ADMIN_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_MODEL", "GOOGLE_CLIENT_SECRET"),
        *("GOOGLE_APPLICATION_CREDENTIALS", "SLACK_WEBHOOK_URL", "DISCORD_WEBHOOK", "SSH_AUTH_SOCK", "BRAZE_API_KEY"),
        *("OPENAQ_API_KEY", "DEEPL_API_KEY", "AZURE_OPENAI_API_KEY", "STRIPE_API_KEY", "COHERE_API_KEY", "LANG"),
    ],
)
def test_other_names_are_not(load: Callable[..., Settings], name: str) -> None:
    assert load(**{name: "something"}).warnings == ()


def test_a_nearly_right_name_in_a_file_is_noted_with_its_line(load: Callable[..., Settings], tmp_path: Path) -> None:
    [warning] = load(dotenv="\nOPENAI_KEY=sk-1\n").warnings

    assert warning == note(f"OPENAI_KEY in {tmp_path}/.env, line 2 is set and not used", "did you mean OPENAI_API_KEY?")
