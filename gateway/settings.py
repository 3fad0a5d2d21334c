"""What a person may set, and how it is loaded: the environment wins over `.env`, which wins over `parley.toml`.

The docstring of a field is its comment in `.env.example`. In `parley.toml` names are lower case and without prefix
(`model = "..."`, `[web] port = 8765`, `[telegram] bot_token = "..."`), elsewhere flat (`PARLEY_MODEL`,
`PARLEY_WEB_PORT`, `TELEGRAM_BOT_TOKEN`).
"""

import re
from collections.abc import Iterator, Mapping
from functools import cache, cached_property
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import parse_qsl, urlsplit

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, InitSettingsSource, PydanticBaseSettingsSource, SettingsConfigDict

from agent_core.context.persona import DEFAULT
from agent_core.llm import ThinkingLevel
from agent_core.mcp.config import McpServer
from channels import registry
from channels.checkup import Finding, problem
from channels.web.config import Config as WebChannelConfig
from gateway.errors import SettingsError
from gateway.mcp_settings import KEYS, TABLE, mcp_servers
from gateway.policy import PermissionSettings
from gateway.private_files import is_open_to_others
from gateway.secrets import Secrets
from gateway.setting_errors import refused
from gateway.setting_sources import (
    Key,
    Layer,
    Names,
    nested,
    parse_dotenv,
    read_dotenv,
    read_environ,
    read_toml,
)
from gateway.zone import check_zone, system_zone

DOTENV = ".env"
TOML = "parley.toml"
HOME_IS_FOR_THE_ENVIRONMENT = (
    "PARLEY_HOME says where this file is looked for, so set it in the environment and take it out here."
)
_SECRET_NAME = re.compile(r"(_KEY|_TOKEN|_SECRET|_PASSWORD|_PASSWD|_PASS|_PAT)S?$|^(TOKEN|SECRET|PASSWORD)$")
_PASSWORD = re.compile(r"://[^/\s:@]*:([^/\s@]+)@")
"""In an address, such as that of a proxy."""


def _person(entry: str) -> str:
    platform, colon, person = entry.strip().partition(":")
    if not (colon and platform.isidentifier() and person) or any(char.isspace() for char in person):
        raise ValueError(f"must hold entries such as telegram:123456789 (platform, colon, id), and {entry!r} is none")
    return f"{platform}:{person}"


def _split(value: object) -> object:
    return [part.strip() for part in value.split(",") if part.strip()] if isinstance(value, str) else value


People = Annotated[frozenset[Annotated[str, AfterValidator(_person)]], BeforeValidator(_split)]


class WebSettings(WebChannelConfig):
    """The page and the server that it is on."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    enabled: bool = True
    """Whether there is a page on this machine: on or off."""
    port: Annotated[int, Field(ge=0, le=65535)] = 8765
    """The page's port on 127.0.0.1; 0 takes any that is free."""


class Settings(BaseSettings):
    """Made by `load_settings`. Made directly, it takes its arguments and nothing else."""

    model_config = SettingsConfigDict(frozen=True, extra="forbid")

    model: str | None = None
    """Which model answers: provider/model such as anthropic/claude-sonnet-5, the name of one on your own server, or
    demo. Empty: the first that is found, by its key or on this machine, else the demo model."""
    fallbacks: Annotated[tuple[str, ...], BeforeValidator(_split)] = ()
    """Which models answer when that one cannot: a comma list, each written the same way, asked in this order."""
    thinking: ThinkingLevel = "off"
    """How much the model thinks before it answers: off, minimal, low, medium, high, xhigh or max."""
    openai_base_url: str | None = None
    """The address of a server of your own that speaks the OpenAI chat protocol, such as http://127.0.0.1:8000/v1."""
    vision: bool | None = None
    """Whether the model sees pictures: on or off. Empty: as far as is known of it."""
    owners: People = frozenset()
    """Who owns this Parley: a comma list of platform:id, such as telegram:123456789."""
    allow: People = frozenset()
    """Who else may talk to it, written the same way. Empty: nobody on public platforms."""
    ai_name: str = "Parley"
    """What your Parley calls itself."""
    personality: str = DEFAULT
    """How it talks: balanced, professional, concise, warm, cheerful, patient, teacher, critic, engineer, butler,
    playful or stoic; or your own words, at most 180 characters."""
    language: Literal["en", "zh"] = "en"
    """What Parley itself speaks in new chats: en or zh. The model answers in yours."""
    timezone: Annotated[str, AfterValidator(check_zone)] = "UTC"
    """An IANA name such as Europe/Paris. Empty: that of this machine."""
    shared_memory: bool = False
    """Whether what it remembers in one owner's direct chat is known in those of all owners: on or off."""
    heartbeat: bool = True
    """Whether it looks every half hour, unasked, whether something needs you, in the owner's own chat and after saying
    so there: on or off. The command /heartbeat decides for each chat."""
    search: str | None = None
    """Where it searches the web: the address of a SearXNG server, brave, tavily or duckduckgo. Brave and Tavily need
    BRAVE_API_KEY or TAVILY_API_KEY beside it. Empty: it cannot search."""
    commands_network: bool = False
    """Whether the programs that it runs may use the network: on or off."""
    audit: bool = True
    """Whether each tool call is a line in a file of the folder audit, kept for 30 days: on or off."""
    permissions: PermissionSettings = PermissionSettings()
    web: WebSettings = WebSettings()
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    """How much is logged to standard error: debug, info, warning or error."""
    log_format: Literal["auto", "console", "logfmt", "json"] = "auto"
    """console, logfmt or json. Empty: console on a terminal, else logfmt."""

    # What is found rather than set.

    home: Path
    """The folder of everything that Parley keeps; not made by loading."""
    channels: Mapping[str, BaseModel] = Field(default_factory=dict)
    """Settings of the channels that are configured, by name."""
    mcp: Mapping[str, McpServer] = Field(default_factory=dict)
    """The MCP servers of `parley.toml`, by name."""
    environ: Mapping[str, str] = Field(default_factory=dict, repr=False)
    """The process environment over `.env`, for keys that have their providers' names."""
    files: tuple[Path, ...] = ()
    """What was read."""
    warnings: tuple[Finding, ...] = ()

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Nothing is read behind our back: what the environment is, is handed in."""
        return (init_settings,)

    @property
    def secret_values(self) -> frozenset[str]:
        """Every value that nobody may read: not in a chat, not in a log, and no model either."""
        keys = {value for name, value in self.environ.items() if _SECRET_NAME.search(name)}
        passwords = {found[1] for value in self.environ.values() for found in _PASSWORD.finditer(value)}
        queries = (parse_qsl(urlsplit(server.url or "").query) for server in self.mcp.values())
        asked = {value for query in queries for name, value in query if _SECRET_NAME.search(f"_{name.upper()}")}
        return frozenset(keys | passwords | asked | set(_secrets_in(self)))

    @cached_property
    def secrets(self) -> Secrets:
        """What takes them out of texts; one object for the whole process, so that what is learned later holds for
        all."""
        return Secrets(self.secret_values)


def exposed(settings: Settings) -> Iterator[Path]:
    """Files that hold secrets and can be read by others on this machine."""
    for file in settings.files:
        if is_open_to_others(file) and (file.name == DOTENV or settings.secrets.are_in(_read(file))):
            yield file


FOUND = frozenset({"home", "channels", "mcp", "environ", "files", "warnings"})
"""Fields that nobody sets by a name of their own."""


def channel_configs() -> Mapping[str, type[BaseModel]]:
    """Channels that are configured by their own names; the page is part of ours."""
    return {name: config for name, config in registry.configs().items() if name not in Settings.model_fields}


@cache
def setting_names() -> Names:
    flat = {
        name: (key,)
        for key, field in Settings.model_fields.items()
        if key not in FOUND and field.annotation not in (WebSettings, PermissionSettings)
        for name in [key.upper() if key == "openai_base_url" else f"PARLEY_{key.upper()}"]
    }
    web: dict[str, Key] = {f"PARLEY_WEB_{key.upper()}": ("web", key) for key in WebSettings.model_fields}
    web["PARLEY_WEB"] = web.pop("PARLEY_WEB_ENABLED")
    permissions = {f"PARLEY_PERMISSIONS_{row.upper()}": ("permissions", row) for row in PermissionSettings.model_fields}
    platforms = {
        f"{channel}_{key}".upper(): (channel, key)
        for channel, config in channel_configs().items()
        for key in config.model_fields
    }
    return Names(
        flat=flat | permissions | web | platforms,
        prefixes=("PARLEY_", *(f"{channel.upper()}_" for channel in channel_configs())),
        elsewhere={"PARLEY_HOME": HOME_IS_FOR_THE_ENVIRONMENT},
        named={TABLE: KEYS},
    )


def load_settings(environ: Mapping[str, str], cwd: Path) -> Settings:
    """Reads, and changes nothing. Raises SettingsError."""
    names = setting_names()
    home = home_folder(environ, cwd)
    dotenv, toml = _find(DOTENV, home, cwd), _find(TOML, home, cwd)
    from_dotenv = parse_dotenv(_read(dotenv), dotenv) if dotenv else {}
    layers: list[Layer] = [read_environ(environ, names)]
    if dotenv:
        layers.append(read_dotenv(from_dotenv, dotenv, names))
    if toml:
        layers.append(read_toml(_read(toml), toml, names))
    merged = {key: entry for layer in reversed(layers) for key, entry in layer.items()}
    environment = {name: value for name, (value, _) in from_dotenv.items() if value}
    environment |= {name: value for name, value in environ.items() if value}
    found: dict[str, object] = {
        "home": home,
        "channels": dict(_channels(merged, names)),
        "mcp": mcp_servers(merged, environment, names),
        "environ": environment,
        "files": tuple(file for file in (dotenv, toml) if file),
        "warnings": tuple(_useless(merged)),
    }
    others = {*channel_configs(), TABLE}
    ours = [{key: entry for key, entry in layer.items() if key[0] not in others} for layer in layers]
    values: list[dict[str, object]] = [found, *(nested(layer) for layer in ours), {"timezone": system_zone(environ)}]
    sources = tuple(InitSettingsSource(Settings, layer) for layer in values)
    try:
        return Settings(_build_sources=(sources, {}))
    except ValidationError as error:
        raise refused(error, merged, names) from error


def home_folder(environ: Mapping[str, str], cwd: Path) -> Path:
    """PARLEY_HOME, else `.parley` in the person's own folder."""
    person = Path(environ["HOME"]) if environ.get("HOME") else Path.home()
    named = environ.get("PARLEY_HOME", "").strip()
    if not named:
        return person / ".parley"
    return cwd / (person / named[2:] if named.startswith("~/") else named)


def _find(name: str, home: Path, cwd: Path) -> Path | None:
    try:
        return next((folder / name for folder in (home, cwd) if (folder / name).exists()), None)
    except OSError as error:
        raise SettingsError(
            f"{home} cannot be looked into ({error.strerror}); make it yours, or set PARLEY_HOME."
        ) from error


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise SettingsError(f"{file} cannot be read ({error.strerror}); make it readable, or move it away.") from error
    except UnicodeDecodeError as error:
        raise SettingsError(f"{file} is not UTF-8 text; save it as UTF-8.") from error


def _secrets_in(value: object) -> Iterator[str]:
    """Of a setting, however deep it is nested."""
    match value:
        case SecretStr():
            yield value.get_secret_value()
        case BaseModel():
            for _, field in value:
                yield from _secrets_in(field)
        case Mapping():
            for item in value.values():
                yield from _secrets_in(item)
        case tuple() | list():
            for item in value:
                yield from _secrets_in(item)


def _useless(merged: Layer) -> Iterator[Finding]:
    """Tokens of a channel that stays closed because the one it needs first is missing, which nobody would notice."""
    for channel, config in channel_configs().items():
        needed = registry.required_secret(config)
        if needed is None or (channel, needed) in merged:
            continue
        name = f"{channel}_{needed}".upper()
        for key, entry in merged.items():
            if key[0] == channel and _SECRET_NAME.search(key[-1].upper()):
                yield problem(
                    f"{entry.place} is of no use without {name}: {channel} stays closed",
                    f"set {name} too, or take that out",
                )


def _channels(merged: Layer, names: Names) -> Iterator[tuple[str, BaseModel]]:
    for channel, config in channel_configs().items():
        mine = {key: entry for key, entry in merged.items() if key[0] == channel}
        secret = registry.required_secret(config)
        if (channel, secret) not in mine if secret else not mine:
            continue
        try:
            yield channel, config.model_validate({key[1]: entry.value for key, entry in mine.items()})
        except ValidationError as error:
            raise refused(error, mine, names, channel) from error
