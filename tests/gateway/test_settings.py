"""Settings come from any of three places, and each error is reported in one sentence."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

import pytest
from pydantic import SecretStr

from channels.telegram.config import Config as TelegramConfig
from gateway.errors import SettingsError
from gateway.settings.settings import Settings, exposed, load_settings
from gateway.settings.zone import system_zone

BOT = "1234567890:AbCdEfGh"


class Load(Protocol):
    def __call__(self, *, toml: str = "", dotenv: str = "", **environ: str) -> Settings: ...


@pytest.fixture
def load(tmp_path: Path) -> Load:
    """Return a function that loads settings from files in the checkout and from an environment."""

    def from_these(*, toml: str = "", dotenv: str = "", **environ: str) -> Settings:
        for name, text in (("parley.toml", toml), (".env", dotenv)):
            if text:
                (tmp_path / name).write_text(text)
                (tmp_path / name).chmod(0o600)
        return load_settings({"HOME": str(tmp_path / "ann"), "PARLEY_CHECKOUT": str(tmp_path), **environ}, tmp_path)

    return from_these


def test_nothing_needs_to_be_set(load: Load, tmp_path: Path) -> None:
    settings = load()

    assert settings.model is None
    assert settings.web.enabled
    assert settings.web.port == 8765
    assert settings.channels == {}
    assert settings.home == tmp_path / "ann" / ".parley"
    assert not settings.home.exists(), "loading makes nothing"


def test_the_environment_wins_over_dotenv_which_wins_over_toml(load: Load) -> None:  # S3-35
    settings = load(
        toml='model = "toml"\nlanguage = "zh"\n[web]\nport = 1\nperson = "Ann"',
        dotenv="PARLEY_MODEL=dotenv\nPARLEY_WEB_PORT=2",
        PARLEY_MODEL="environment",
    )

    assert (settings.model, settings.web.port, settings.language) == ("environment", 2, "zh")
    assert settings.web.person == "Ann", "a table is merged, not replaced"


def test_an_empty_value_counts_as_not_set(load: Load) -> None:
    settings = load(
        toml='model = "toml"', dotenv="PARLEY_MODEL=\nOPENAI_API_KEY=sk-1\nTELEGRAM_BOT_TOKEN=", OPENAI_API_KEY=""
    )

    assert settings.model == "toml"
    assert settings.environ["OPENAI_API_KEY"] == "sk-1"
    assert settings.channels == {}


def test_files_in_the_home_win_over_those_of_the_checkout(load: Load, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "parley.toml").write_text('model = "home"')

    settings = load(toml='model = "here"', dotenv="PARLEY_LANGUAGE=zh", PARLEY_HOME="home")

    assert settings.home == home
    assert (settings.model, settings.language) == ("home", "zh")
    assert settings.files == (tmp_path / ".env", home / "parley.toml")


def test_a_tilde_in_the_home_is_the_persons_folder(load: Load, tmp_path: Path) -> None:
    assert load(PARLEY_HOME="~/here").home == tmp_path / "ann" / "here"


def test_a_channel_is_configured_by_its_secret(load: Load) -> None:
    settings = load(toml='[telegram]\nbase_url = "http://127.0.0.1:1"', TELEGRAM_BOT_TOKEN=BOT)

    telegram = settings.channels["telegram"]
    assert isinstance(telegram, TelegramConfig)
    assert telegram.bot_token == SecretStr(BOT)
    assert telegram.base_url == "http://127.0.0.1:1"


def test_a_channel_without_its_secret_is_not_there(load: Load) -> None:
    assert load(TELEGRAM_BASE_URL="http://127.0.0.1:1").channels == {}


def test_people_are_a_comma_list_or_a_toml_list(load: Load) -> None:
    settings = load(toml='owners = ["telegram:1"]', PARLEY_ALLOW="telegram:2, slack:U3,")

    assert settings.owners == {"telegram:1"}
    assert settings.allow == {"telegram:2", "slack:U3"}


def test_keys_keep_the_names_of_their_providers(load: Load) -> None:
    settings = load(
        dotenv="export ANTHROPIC_API_KEY='sk-$HOME#1'\nUNRELATED=x", OPENAI_BASE_URL="http://127.0.0.1:8000/v1"
    )

    assert settings.environ["ANTHROPIC_API_KEY"] == "sk-$HOME#1"
    assert settings.openai_base_url == "http://127.0.0.1:8000/v1"


def test_secrets_are_known_and_not_printed(load: Load) -> None:
    settings = load(dotenv=f"OPENAI_API_KEY=sk-very-secret\nTELEGRAM_BOT_TOKEN={BOT}", LANG="C.UTF-8")

    assert settings.secret_values == {"sk-very-secret", BOT}
    assert "sk-very-secret" not in repr(settings)
    assert BOT not in repr(settings)


def test_a_secret_is_known_wherever_it_stands(load: Load) -> None:
    settings = load(
        toml=f'[telegram]\nbot_token = "{BOT}"\n[mcp.tides]\ncommand = ["tides"]\nenv = {{TIDES_KEY = "of-the-moon"}}\n'
        '[mcp.wind]\nurl = "https://wind.example/mcp?api_key=from-the-west&v=2"',
        GH_PAT="ghp_abcdefgh",
        HTTPS_PROXY="http://ann:pass-word@proxy:3128",
        OTHER="nothing",
    )

    assert settings.secret_values == {BOT, "ghp_abcdefgh", "pass-word", "of-the-moon", "from-the-west"}
    assert settings.secrets is settings.secrets, "what is learned later holds for all"


def test_a_file_with_secrets_that_others_can_read_is_exposed(load: Load, tmp_path: Path) -> None:
    assert list(exposed(load(dotenv="PARLEY_MODEL=ollama/qwen3", toml='language = "zh"'))) == []
    (tmp_path / ".env").chmod(0o644)
    (tmp_path / "parley.toml").chmod(0o644)

    assert list(exposed(load())) == [tmp_path / ".env"], "no secret stands in the other"

    (tmp_path / "parley.toml").write_text(f'[telegram]\nbot_token = "{BOT}"')
    assert list(exposed(load())) == [tmp_path / ".env", tmp_path / "parley.toml"]


def test_a_token_that_is_of_no_use_alone_is_pointed_out(load: Load, tmp_path: Path) -> None:
    settings = load(dotenv="SLACK_APP_TOKEN=xapp-1-a2b3c4\nTELEGRAM_POLL_SECONDS=5")

    assert settings.channels == {}
    (warning,) = settings.warnings
    assert warning.what == (
        f"SLACK_APP_TOKEN in {tmp_path / '.env'}, line 1 is of no use without SLACK_BOT_TOKEN: slack stays closed"
    )
    assert warning.fix == "set SLACK_BOT_TOKEN too, or take that out"


def test_the_zone_is_that_of_the_machine_unless_set(load: Load, tmp_path: Path) -> None:
    assert load(TZ="Asia/Shanghai").timezone == "Asia/Shanghai"
    assert load(TZ="Asia/Shanghai", PARLEY_TIMEZONE="Europe/Oslo").timezone == "Europe/Oslo"

    link = tmp_path / "localtime"
    assert system_zone({}, link) == "UTC"
    link.symlink_to("/usr/share/zoneinfo/Europe/Paris")
    assert system_zone({}, link) == "Europe/Paris"
    assert system_zone({"TZ": "nonsense"}, link) == "Europe/Paris"


def test_settings_made_directly_read_nothing() -> None:
    os.environ.setdefault("PARLEY_NEVER_READ", "1")
    try:
        assert Settings(home=Path("/nowhere")).model is None
    finally:
        os.environ.pop("PARLEY_NEVER_READ")


@pytest.mark.parametrize(
    ("toml", "sentence"),
    [
        ('modle = "x"', "There is no setting modle in {}, line 1; did you mean model?"),
        ("# hello\n\n[web]\nprot = 1", "There is no setting web.prot in {}, line 4; did you mean port?"),
        ("[telegrm]\nx = 1", "There is no setting telegrm in {}, line 1; did you mean telegram?"),
        ("model = 5", "model in {}, line 1 must be text in quotes."),
        ('[web]\nport = "x"', "web.port in {}, line 2 must be a whole number."),
        ("[web]\nport = 65536", "web.port in {}, line 2 must be at most 65535."),
        ("web = false", "web in {}, line 1 is a table: write [web] on a line of its own, and its keys below."),
        ("owners = 42", "owners in {}, line 1 must be a list."),
        (
            'node_name = "a/b"',
            "node_name in {}, line 1 must be at most 100 letters, digits, dots, - and _, and begin with a letter or "
            "digit.",
        ),
        ('language = "fr"', "language in {}, line 1 must be 'en' or 'zh'."),
        (
            'timezone = "Europe/Pari"',
            "timezone in {}, line 1 names no time zone ('Europe/Pari'); did you mean Europe/Paris?",
        ),
        (
            'home = "/x"',
            "home in {}, line 1 has no effect: PARLEY_HOME says where this file is looked for, so set it in the "
            "environment and take it out here.",
        ),
    ],
)
def test_a_mistake_in_toml_is_one_sentence(load: Load, tmp_path: Path, toml: str, sentence: str) -> None:
    with pytest.raises(SettingsError) as refused:
        load(toml=toml)

    assert refused.value.sentence == sentence.format(tmp_path / "parley.toml")


@pytest.mark.parametrize(
    ("dotenv", "sentence"),
    [
        (
            "\nTELEGRAM_BOT_TOKN=1",
            "There is no setting TELEGRAM_BOT_TOKN in {}, line 2; did you mean TELEGRAM_BOT_TOKEN?",
        ),
        ("PARLEY_MODLE=x", "There is no setting PARLEY_MODLE in {}, line 1; did you mean PARLEY_MODEL?"),
        ("hello", "{}, line 1 is not of the form NAME=value; correct it or put a # before it."),
        (
            "TELEGRAM_BOT_TOKEN=abc",
            "TELEGRAM_BOT_TOKEN in {}, line 1 does not look like a bot token (1234567890:AbC...); copy it again from "
            "@BotFather.",
        ),
        ("PARLEY_WEB=maybe", "PARLEY_WEB in {}, line 1 must be on or off (in TOML: true or false)."),
        (
            "SLACK_BOT_TOKEN=xoxb-1-a2b3c4",
            "Beside SLACK_BOT_TOKEN in {}, line 1: SLACK_APP_TOKEN is missing, and Parley needs it to receive "
            "events. Create one at api.slack.com/apps, your app, Basic Information, App-Level Tokens, with the scope "
            "connections:write (or set SLACK_SIGNING_SECRET to receive events over HTTP).",
        ),
    ],
)
def test_a_mistake_in_dotenv_is_one_sentence(load: Load, tmp_path: Path, dotenv: str, sentence: str) -> None:
    with pytest.raises(SettingsError) as refused:
        load(dotenv=dotenv)

    assert refused.value.sentence == sentence.format(tmp_path / ".env")


def test_in_the_environment_only_our_own_prefix_is_checked(load: Load) -> None:
    assert load(TELEGRAM_BOT_TOKN="somebody else's").channels == {}

    with pytest.raises(SettingsError, match="There is no setting PARLEY_LANGAUGE in the environment; did you mean"):
        load(PARLEY_LANGAUGE="zh")


def test_an_entry_of_people_says_what_it_should_look_like(load: Load) -> None:
    with pytest.raises(SettingsError, match=r"^PARLEY_OWNERS in the environment must hold entries such as telegram:1"):
        load(PARLEY_OWNERS="42")


def _folder(path: Path) -> None:
    path.mkdir()


def _bytes(path: Path) -> None:
    path.write_bytes(b"\xff\xfe")


def _broken(path: Path) -> None:
    path.write_text("model = \n")


@pytest.mark.parametrize(
    ("make", "words"),
    [(_folder, "cannot be read (Is a directory)"), (_bytes, "is not UTF-8"), (_broken, "is not valid TOML")],
)
def test_a_file_that_cannot_be_read_is_one_sentence(
    load: Load, tmp_path: Path, make: Callable[[Path], None], words: str
) -> None:
    make(tmp_path / "parley.toml")

    with pytest.raises(SettingsError) as refused:
        load()

    assert refused.value.sentence.startswith(f"{tmp_path / 'parley.toml'} {words}")


def test_what_tools_may_do_is_set_in_rows_over_the_defaults(load: Load) -> None:
    settings = load(
        toml='[permissions]\nowner = {exec = "allow"}\nuser = {net = "ask"}', PARLEY_PERMISSIONS_USER="exec=deny"
    )

    assert settings.permissions.owner["exec"] == "allow"
    assert settings.permissions.owner["net"] == "allow", "what is left out stays as it is"
    assert (settings.permissions.user["exec"], settings.permissions.user["net"]) == ("deny", "allow")
    assert load(dotenv="PARLEY_PERMISSIONS_TAINTED=read=ask").permissions.tainted["read"] == "ask"


@pytest.mark.parametrize(
    ("toml", "words"),
    [
        (
            'owner = {exec = "maybe"}',
            "permissions.owner in {file}, line 2 must set exec to allow, ask or deny, and not to 'maybe'.",
        ),
        (
            'user = {fly = "ask"}',
            "permissions.user in {file}, line 2 must be written as in exec=ask, for read, write, net, exec, admin, "
            "sandboxed; 'fly' is none of these.",
        ),
        (
            'tainted = {net = "allow"}',
            "permissions.tainted in {file}, line 2 must set net to ask or deny, and not to 'allow'.",
        ),
        (
            'nobody = {net = "ask"}',
            "There is no setting permissions.nobody in {file}, line 2; what may stand there: admin, guest, owner, "
            "tainted, user.",
        ),
    ],
)
def test_a_row_that_cannot_be_is_refused_with_what_may_stand_there(
    load: Load, tmp_path: Path, toml: str, words: str
) -> None:
    with pytest.raises(SettingsError) as refusal:
        load(toml=f"[permissions]\n{toml}")

    assert str(refusal.value) == words.format(file=tmp_path / "parley.toml")


def test_a_file_of_the_current_folder_is_not_read_and_says_so(tmp_path: Path) -> None:  # D-28
    """A cloned repository could otherwise choose the server that gets our keys, or a program that we start."""
    hostile = tmp_path / "repository"
    hostile.mkdir()
    (hostile / ".env").write_text("OPENAI_BASE_URL=https://evil.example/v1\n")
    (hostile / "parley.toml").write_text('[mcp.helper]\ncommand = ["sh", "-c", "touch /tmp/owned"]\n')

    settings = load_settings({"HOME": str(tmp_path / "ann")}, hostile)

    assert (settings.openai_base_url, settings.mcp, settings.files) == (None, {}, ())
    assert [warning.what.partition(" is not read")[0] for warning in settings.warnings] == [
        str(hostile / ".env"),
        str(hostile / "parley.toml"),
    ]


def test_a_dotenv_of_another_program_is_nothing_to_speak_of(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("DATABASE_URL=postgres://db\n")

    assert load_settings({"HOME": str(tmp_path / "ann")}, tmp_path).warnings == ()


def test_a_file_that_is_named_takes_the_place_of_the_one_at_home(tmp_path: Path) -> None:
    home, here = tmp_path / "home", tmp_path / "here"
    for folder, model in ((home, "at-home"), (here, "here")):
        folder.mkdir()
        (folder / "parley.toml").write_text(f'model = "{model}"')
        (folder / "ours.env").write_text("PARLEY_LANGUAGE=zh")
    named = {"PARLEY_HOME": str(home), "PARLEY_CONFIG": f"parley.toml{os.pathsep}ours.env"}

    settings = load_settings(named, here)

    assert (settings.model, settings.language) == ("here", "zh")
    assert settings.files == (here / "ours.env", here / "parley.toml")


def test_a_named_file_that_is_not_there_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"There is no file .*/gone\.toml; behind --config name a \.env or \.toml"):
        load_settings({"HOME": str(tmp_path), "PARLEY_CONFIG": "gone.toml"}, tmp_path)


def test_a_password_in_an_address_is_a_secret_as_it_is_meant_and_as_it_is_written(load: Load) -> None:
    settings = load(HTTPS_PROXY="http://ann:correct%40horse%2Fbattery@proxy:3128")

    assert {"correct%40horse%2Fbattery", "correct@horse/battery"} <= settings.secret_values


@pytest.mark.parametrize("row", ["net=allow", "exec=allow", "admin=allow"])
def test_a_guests_row_that_would_not_be_honoured_is_refused(load: Load, row: str) -> None:
    with pytest.raises(SettingsError) as refused:
        load(PARLEY_PERMISSIONS_GUEST=row)
    assert "to ask or deny, as what guests write counts as untrusted input" in str(refused.value)


def test_variables_that_libraries_set_later_change_nothing_when_the_files_are_read_again(tmp_path: Path) -> None:
    environ = {"PARLEY_HOME": str(tmp_path)}
    settings = load_settings(environ, tmp_path)
    environ["LITELLM_MODE"] = "PRODUCTION"

    assert settings.reread is not None
    assert settings.reread({}).environ == settings.environ
