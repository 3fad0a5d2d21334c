"""MCP servers are configured in `parley.toml`, their secrets elsewhere; each mistake is reported in one sentence."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from pydantic import SecretStr

from agent_core.mcp.config import revealed
from agent_core.mcp.servers import PACKAGE
from gateway.errors import SettingsError
from gateway.settings.settings import Settings, load_settings
from tests.test_packaging import PROJECT

CANARY = "ghp_aBcDeFgH0123456789"
NOTES = '[mcp.notes]\ncommand = ["npx", "-y", "notes"]\n'


def loaded(folder: Path, toml: str, environ: Mapping[str, str] | None = None, dotenv: str = "") -> Settings:
    (folder / "parley.toml").write_text(toml)
    if dotenv:
        (folder / ".env").write_text(dotenv)
        (folder / ".env").chmod(0o600)
    return load_settings({"HOME": str(folder / "ann"), "PARLEY_HOME": str(folder), **(environ or {})}, folder)


def test_without_servers_there_are_none(tmp_path: Path) -> None:
    assert loaded(tmp_path, 'language = "zh"').mcp == {}


def test_a_server_has_a_command_or_an_address_and_a_class(tmp_path: Path) -> None:
    servers = loaded(
        tmp_path,
        f"""
        {NOTES}
        [mcp.home-page]
        url = "https://mcp.example.org/mcp"
        [mcp.shop]
        url = "http://127.0.0.1:8000/mcp"
        class = "exec"
        """,
    ).mcp

    assert servers["notes"].command == ("npx", "-y", "notes")
    assert {name: server.acts for name, server in servers.items()} == {
        "notes": "exec",
        "home-page": "net",
        "shop": "exec",
    }


def test_secrets_come_from_the_environment_or_dotenv_and_are_known_as_such(tmp_path: Path) -> None:
    settings = loaded(
        tmp_path,
        NOTES
        + 'env = { ACCESS = "${NOTES_TOKEN}", FOLDER = "${HOME}/notes" }\n'
        + '[mcp.web]\nurl = "https://mcp.example.org/mcp"\n[mcp.web.headers]\nAuthorization = "Bearer ${WEB_TOKEN}"\n',
        {"NOTES_TOKEN": CANARY},
        dotenv="WEB_TOKEN=from-dotenv-0123456789\nNOTES_TOKEN=loses",
    )

    assert settings.mcp["notes"].env == {"ACCESS": SecretStr(CANARY), "FOLDER": f"{tmp_path}/ann/notes"}
    assert revealed(settings.mcp["web"].headers["Authorization"]) == "Bearer from-dotenv-0123456789"
    assert "[secret]" in settings.secrets.mask(f"it is {CANARY}.")
    assert "from-dotenv" not in settings.secrets.mask("it is from-dotenv-0123456789.")
    assert settings.secrets.mask(f"{tmp_path}/ann/notes/a.txt") == f"{tmp_path}/ann/notes/a.txt"
    assert CANARY not in repr(settings)


@pytest.mark.parametrize(
    ("name", "value", "secret"),
    [
        ("ANYTHING", "correct-horse-7", True),
        ("API_KEY", "letters", True),
        ("DATABASE", "postgres://ann:hunter2@db/notes", True),
        ("LOG_LEVEL", "information", False),
        ("PORT", "8080", False),
        ("FOLDER", "~/notes 2024", False),
        ("SITE", "https://example.org/a", False),
    ],
)
def test_a_value_is_taken_for_a_secret_unless_it_plainly_is_none(
    tmp_path: Path, name: str, value: str, *, secret: bool
) -> None:
    settings = loaded(tmp_path, f'{NOTES}env = {{ {name} = "{value}" }}')

    assert isinstance(settings.mcp["notes"].env[name], SecretStr) is secret


@pytest.mark.parametrize(
    ("toml", "sentence"),
    [
        (f"{NOTES}comand = 1", "There is no setting mcp.notes.comand in {}, line 3; did you mean command?"),
        ("[mpc.notes]\nurl = 1", "There is no setting mpc in {}; did you mean mcp?"),
        (
            'mcp = "npx"',
            "mcp in {}, line 1 is a table: write [mcp.name] on a line of its own, and its keys below.",
        ),
        (
            '[mcp]\nnotes = "npx"',
            "mcp.notes in {}, line 2 is a table: write [mcp.notes] on a line of its own, and its keys below.",
        ),
        (
            '[mcp.notes]\ncommand = "npx notes"',
            'mcp.notes.command in {}, line 2 must be a list of texts in quotes: ["...", "..."].',
        ),
        (f'{NOTES}env = ["A"]', 'mcp.notes.env in {}, line 3 must be a table: {{ NAME = "..." }}.'),
        (f"{NOTES}env = {{ A = 1 }}", "mcp.notes.env in {}, line 3 must be text in quotes."),
        (f'{NOTES}class = "root"', "mcp.notes.class in {}, line 3 must be 'exec' or 'net'."),
        (
            '[mcp.notes]\nclass = "net"',
            'Beside mcp.notes.class in {}, line 2: an MCP server has either command = ["...", "..."] or '
            'url = "https://...".',
        ),
        (
            f'{NOTES}headers = {{ A = "b" }}',
            "Beside mcp.notes.command in {}, line 2: headers are for servers with a url; one with a command takes env.",
        ),
        (
            '[mcp.notes]\nurl = "ftp://example.org"',
            "mcp.notes.url in {}, line 2 must begin with https:// (or http:// on your own network).",
        ),
        (
            '[mcp.notes]\nurl = "https://ann:secret@example.org"',
            "mcp.notes.url in {}, line 2 must not hold a name or a password: send them in headers.",
        ),
        (
            f'{NOTES}[mcp.notes.env]\nA = "${{NOWHERE}}"',
            "mcp.notes.env in {}, line 3 needs NOWHERE, which is not set; set it in the environment or in .env.",
        ),
        (
            '[mcp.my_notes]\ncommand = ["x"]',
            "mcp.my_notes.command in {}, line 2: 'my_notes' cannot be the name of an MCP server, whose tools begin "
            "with it; use at most 24 letters, digits and -.",
        ),
    ],
)
def test_a_mistake_is_one_sentence_that_names_file_and_key(tmp_path: Path, toml: str, sentence: str) -> None:
    with pytest.raises(SettingsError) as refused:
        loaded(tmp_path, toml)

    assert refused.value.sentence == sentence.format(tmp_path / "parley.toml")


def test_a_header_that_cannot_be_sent_is_refused_without_its_value(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="'Authorization' is no header that can be sent") as refused:
        loaded(tmp_path, '[mcp.a]\nurl = "https://a.example"\nheaders = { Authorization = "${T}" }', {"T": "se\ncret"})

    assert "cret" not in refused.value.sentence.replace("secret", "")


def test_what_is_told_to_install_is_what_the_extra_asks_for() -> None:
    assert PROJECT["project"]["optional-dependencies"]["mcp"] == [PACKAGE]


def test_what_every_request_says_is_no_secret(tmp_path: Path) -> None:
    kinds = 'headers = { Accept = "application/json", X-Api-Key = "0123456789abcdef" }'
    settings = loaded(tmp_path, f'[mcp.web]\nurl = "https://mcp.example.org/mcp"\n{kinds}\n')

    assert settings.secrets.mask("application/json and 0123456789abcdef") == "application/json and [secret]"
