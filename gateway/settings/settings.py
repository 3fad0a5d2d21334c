"""The settings, and how they are loaded: the environment wins over `.env`, which wins over `parley.toml`.

The docstring of a field is its comment in `.env.example`. In `parley.toml` names are lower case and without prefix
(`model = "..."`, `[web] port = 8765`, `[telegram] bot_token = "..."`), elsewhere flat (`PARLEY_MODEL`,
`PARLEY_WEB_PORT`, `TELEGRAM_BOT_TOKEN`).
"""

from collections.abc import Callable, Iterator, Mapping, Set
from functools import cache, cached_property, lru_cache, partial
from pathlib import Path
from typing import Annotated, Literal

from msgspec.structs import replace
from pydantic import AfterValidator, BaseModel, BeforeValidator, Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, InitSettingsSource, PydanticBaseSettingsSource, SettingsConfigDict

from agent_core.context.prompt import DEFAULT_PERSONALITY
from agent_core.mcp.config import McpServer
from agent_core.models.llm import ThinkingLevel
from channels import discovery
from channels.checkup import Finding
from gateway.errors import Refusals, SettingsError
from gateway.security.secrets import Secrets, is_open_to_others
from gateway.settings.budgets import BudgetSettings
from gateway.settings.channel_settings import channel_settings, useless
from gateway.settings.errors import refused, refused_keys
from gateway.settings.files import (
    DOTENV,
    NODES,
    SET_ELSEWHERE,
    home_folder,
    host_name,
    left_out,
    read_text,
    setting_files,
)
from gateway.settings.limits import LimitSettings, QuotaSettings
from gateway.settings.mcp import KEYS, TABLE, mcp_servers
from gateway.settings.mistyped_names import misnamed
from gateway.settings.permissions import PermissionSettings
from gateway.settings.plugin_settings import TABLE as PLUGINS
from gateway.settings.plugin_settings import PluginSetting, PluginSettings, each_setting
from gateway.settings.plugin_values import plugin_values, told_of, unclaimed, values_of
from gateway.settings.secret_values import passwords_in, secrets_in, secrets_in_queries, secrets_named
from gateway.settings.sources import (
    Entry,
    Key,
    Layer,
    Names,
    Origin,
    nested,
    parse_dotenv,
    read_dotenv,
    read_environ,
    read_toml,
)
from gateway.settings.values import People, check_node_name, postgres, split
from gateway.settings.web import WebSettings
from gateway.settings.zone import check_zone, system_zone


class Settings(BaseSettings):
    """All settings. Use `load_settings`; the constructor reads neither files nor the environment."""

    model_config = SettingsConfigDict(frozen=True, extra="forbid")

    model: str | None = None
    """The model that answers: provider/model such as anthropic/claude-sonnet-5, or the name of one on your own server.
    Empty: the first that is found, by its key or on this machine, else one of a plugin that stands by."""
    fallbacks: Annotated[tuple[str, ...], BeforeValidator(split)] = ()
    """Models to ask, in this order, when that one cannot answer: a comma list, each written the same way."""
    models: Annotated[tuple[str, ...], BeforeValidator(split)] = ()
    """Other models that people can choose with /model: a comma list, each written the same way."""
    member_models: Annotated[frozenset[str], BeforeValidator(split)] = frozenset()
    """Models that members may use beside the first one: a comma list. Empty: all."""
    guest_models: Annotated[frozenset[str], BeforeValidator(split)] = frozenset()
    """The same for guests."""
    thinking: ThinkingLevel = "off"
    """Amount of thinking before an answer, which the page shows folded: off, minimal, low, medium, high, xhigh or
    max."""
    openai_base_url: str | None = None
    """The address of a server of your own that speaks the OpenAI chat protocol, such as http://127.0.0.1:8000/v1."""
    vision: bool | None = None
    """Show pictures to the model: on or off. Empty: if the model is known to support them."""
    owners: People = frozenset()
    """Owners of this Parley: a comma list of platform:id, such as telegram:123456789."""
    allow: People = frozenset()
    """Others who may talk to it, written the same way. Empty: nobody on public platforms."""
    answer_strangers: bool = True
    """Tell unknown people who write in a direct chat that the owner was asked: on or off. Groups stay silent."""
    ai_name: Annotated[str, Field(min_length=1, max_length=60)] = "Parley"
    """Name of your Parley."""
    personality: str = DEFAULT_PERSONALITY
    """Manner of speaking: balanced, professional, concise, warm, cheerful, patient, teacher, critic, engineer, butler,
    playful or stoic; or your own words, at most 180 characters."""
    language: Literal["en", "zh"] = "en"
    """Language of Parley's own messages in new chats: en or zh. The model answers in yours."""
    timezone: Annotated[str, AfterValidator(check_zone)] = "UTC"
    """An IANA name such as Europe/Paris. Empty: that of this machine."""
    plugins: Annotated[tuple[str, ...], BeforeValidator(split)] = ()
    """Plugins of others to load, from packages that are installed beside Parley: a comma list of their names."""
    plugins_off: Annotated[frozenset[str], BeforeValidator(split)] = frozenset()
    """Plugins that are switched off, those that come with Parley included: a comma list of their names."""
    heartbeat: bool = True
    """Offer the owner, once, to check every half hour if something needs attention: on or off. The command /heartbeat
    switches these checks on and off in each chat."""
    search: str | None = None
    """Web search: the address of a SearXNG server, brave, tavily or duckduckgo. Brave and Tavily need BRAVE_API_KEY or
    TAVILY_API_KEY beside it. Empty: it cannot search."""
    commands_network: bool = False
    """Network access for the programs that it runs: on or off."""
    drain_seconds: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 20.0
    """Seconds that running answers get to finish when Parley is stopped; what is left goes on at the next start."""
    audit: bool = True
    """Record each tool call in a file of the folder audit, kept for 30 days: on or off."""
    backups: Annotated[int, Field(ge=0, le=100)] = 7
    """Number of nightly backups kept in the folder backups; 0: none are made."""
    keep_days: Annotated[int, Field(ge=0)] = 30
    """Days after which long results of tools are shortened and copies of sent files removed; 0: never."""
    database_url: Annotated[SecretStr, AfterValidator(postgres)] | None = None
    """Address of a PostgreSQL database, such as postgresql://parley:password@db.example.org/parley, which needs the
    extra cluster. Empty: the file parley.db."""
    node_name: Annotated[str, AfterValidator(check_node_name)] | None = None
    """Name of this machine, where several share a PostgreSQL database: letters, digits, dots and dashes. Empty: its
    host name."""
    permissions: PermissionSettings = PermissionSettings()
    limits: LimitSettings = LimitSettings()
    budgets: BudgetSettings = BudgetSettings()
    quotas: QuotaSettings = QuotaSettings()
    web: WebSettings = WebSettings()
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    """Level of the log on standard error: debug, info, warning or error."""
    log_format: Literal["auto", "console", "logfmt", "json"] = "auto"
    """console, logfmt or json. Empty: console on a terminal, else logfmt."""

    # Not settings themselves, but found while loading.

    home: Path
    """Folder of everything that Parley keeps. Loading does not create it."""
    channels: Mapping[str, BaseModel] = Field(default_factory=dict)
    """Settings of the configured channels by name."""
    mcp: Mapping[str, McpServer] = Field(default_factory=dict)
    """MCP servers of `parley.toml` by name."""
    plugin: Mapping[str, PluginSettings] = Field(default_factory=dict)
    """Settings of plugins by the plugin's name."""
    unclaimed: Mapping[str, Entry] = Field(default_factory=dict, repr=False)
    """Entries for plugins that are not known, by their names in the table."""
    environ: Mapping[str, str] = Field(default_factory=dict, repr=False)
    """The process environment over `.env`, for providers' keys."""
    files: tuple[Path, ...] = ()
    """Files that were read."""
    places: Mapping[str, Origin] = Field(default_factory=dict)
    """Places of the settings that are not defaults, such as `keep_days in parley.toml, line 3`, by name."""
    warnings: tuple[Finding, ...] = ()
    reread: Callable[[Mapping[str, str]], "Settings"] | None = Field(default=None, repr=False)
    """Reads the files again, with variables that win over them; blocks, and raises SettingsError."""

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Disable pydantic's own sources, since the environment is passed in."""
        return (init_settings,)

    @property
    def database(self) -> str | None:
        """The address of the PostgreSQL database; None if the store is a file."""
        return None if self.database_url is None else self.database_url.get_secret_value()

    @property
    def nightly_backups(self) -> int:
        """The number of nightly backups that are kept; 0 also for PostgreSQL, which is copied by its own tools."""
        return self.backups if self.database_url is None else 0

    @property
    def node(self) -> str:
        """The name of this machine among those that share a database."""
        return self.node_name or host_name()

    @property
    def local(self) -> Path:
        """The folder of what only this process uses: the home itself, unless several nodes share it."""
        return self.home if self.database_url is None else self.home / NODES / self.node

    @property
    def secret_values(self) -> frozenset[str]:
        """Values that must not appear in chats, logs or requests to models."""
        found = [
            *secrets_in(self),
            *secrets_named(self.environ),
            *secrets_named({name.upper(): str(entry.value) for name, entry in self.unclaimed.items()}),
            *passwords_in((*self.environ.values(), self.database or "")),
            *secrets_in_queries((*(server.url for server in self.mcp.values()), self.database)),
        ]
        return frozenset(found)

    @cached_property
    def secrets(self) -> Secrets:
        """Masker of the secret values. There is one for the process, so that later additions are masked everywhere."""
        return Secrets(self.secret_values)


def exposed(settings: Settings) -> Iterator[Path]:
    """Yield files that hold secrets and that others on this machine can read."""
    for file in settings.files:
        if is_open_to_others(file) and (file.name == DOTENV or settings.secrets.are_in(read_text(file))):
            yield file


FOUND = frozenset(
    {"home", "channels", "mcp", "plugin", "unclaimed", "environ", "files", "places", "warnings", "reread"}
)
"""Fields that have no name of their own in the environment."""


def channel_configs() -> Mapping[str, type[BaseModel]]:
    """Return the channels configured under their own names. The page is configured with `Settings`."""
    return {name: config for name, config in discovery.configs().items() if name not in Settings.model_fields}


TABLES: Mapping[str, type[BaseModel]] = {
    "permissions": PermissionSettings,
    "limits": LimitSettings,
    "budgets": BudgetSettings,
    "quotas": QuotaSettings,
    "web": WebSettings,
}
"""The settings that are in a table of `parley.toml`."""


def setting_names() -> Names:
    """Return the names of all settings, with those of the plugins that are known."""
    return _with_plugins(tuple(each_setting()))


@lru_cache(maxsize=2)
def _with_plugins(settings: tuple[PluginSetting, ...]) -> Names:
    names = _names_of_parley()
    ours = set(names.flat.values())
    former = {
        each.about.formerly: each.key for each in settings if each.about.formerly and each.about.formerly not in ours
    }
    flat = {**names.flat, **{each.variable: each.key for each in settings}}
    return replace(names, flat=flat, former=former, open_table=PLUGINS)


@cache
def _names_of_parley() -> Names:
    flat: dict[str, Key] = {
        key.upper() if key == "openai_base_url" else f"PARLEY_{key.upper()}": (key,)
        for key in Settings.model_fields
        if key not in FOUND and key not in TABLES
    }
    flat |= {
        f"PARLEY_{table}_{key}".upper(): (table, key) for table, model in TABLES.items() for key in model.model_fields
    }
    flat["PARLEY_WEB"] = flat.pop("PARLEY_WEB_ENABLED")
    platforms = {
        f"{channel}_{key}".upper(): (channel, key)
        for channel, config in channel_configs().items()
        for key in config.model_fields
    }
    return Names(
        flat=flat | platforms,
        prefixes=("PARLEY_", *(f"{channel.upper()}_" for channel in channel_configs())),
        elsewhere=SET_ELSEWHERE,
        named={TABLE: KEYS},
    )


def load_settings(environ: Mapping[str, str], cwd: Path) -> Settings:
    """Return the settings from the environment, `.env` and `parley.toml`, changing nothing.

    Raises SettingsError with everything that is wrong in them.
    """
    settings, refusals = read_settings(environ, cwd)
    if refusals.sentences:
        raise SettingsError(*refusals.sentences)
    return settings


def database_of(environ: Mapping[str, str], cwd: Path) -> str | None:
    """Return the address of the PostgreSQL database; None if the store is a file, or the settings cannot be read."""
    try:
        return read_settings(environ, cwd)[0].database
    except SettingsError:
        return None


def with_plugin(settings: Settings, plugin: str, kind: type[PluginSettings]) -> Settings:
    """Return the settings with those of a plugin that is known by now. Raises SettingsError."""
    values = values_of(plugin, kind, settings.unclaimed, setting_names())
    for secret in secrets_in(values):
        settings.secrets.add(secret)
    return settings.model_copy(update={"plugin": {**settings.plugin, plugin: values}})


def _reread(environ: Mapping[str, str], cwd: Path, given: Mapping[str, str]) -> Settings:
    return load_settings({**environ, **given}, cwd)


def read_settings(environ: Mapping[str, str], cwd: Path) -> tuple[Settings, Refusals]:
    """Return the valid settings, and the errors in the others.

    The files are read from PARLEY_HOME, from the checkout that `./run` started, or as `--config` names them. The
    current folder is not searched: it may be somebody else's. Raises SettingsError if the files cannot be found or the
    remaining settings are not valid either.
    """
    names, refusals = setting_names(), Refusals()
    home = home_folder(environ, cwd)
    dotenv, toml = setting_files(environ, home, cwd)
    files = tuple(file for file in (dotenv, toml) if file)
    from_dotenv: dict[str, tuple[str, int]] = {}
    layers: list[Layer] = [read_environ(environ, names, refusals)]
    if dotenv:
        with refusals.noted():
            from_dotenv = parse_dotenv(read_text(dotenv), dotenv, refusals)
            layers.append(read_dotenv(from_dotenv, dotenv, names, refusals))
    if toml:
        with refusals.noted():
            layers.append(read_toml(read_text(toml), toml, names, refusals))
    merged = {key: entry for layer in reversed(layers) for key, entry in layer.items()}
    environment = {name: value for name, (value, _) in from_dotenv.items() if value}
    environment |= {name: value for name, value in environ.items() if value}
    found: dict[str, object] = {
        "home": home,
        "channels": dict(channel_settings(channel_configs(), merged, names, refusals)),
        "mcp": mcp_servers(merged, environment, names, refusals),
        "plugin": dict(plugin_values(merged, names, refusals)),
        "unclaimed": unclaimed(merged),
        "environ": environment,
        "files": files,
        "places": {".".join(key): entry.place for key, entry in merged.items()},
        "reread": partial(_reread, dict(environ), cwd),  # libraries set variables of their own later
        "warnings": (
            *useless(channel_configs(), merged),
            *told_of(merged, names.former),
            *left_out(cwd, files, names),
            *misnamed(environ, from_dotenv, dotenv, names),
        ),
    }
    others = {*channel_configs(), TABLE, PLUGINS}
    ours = [{key: entry for key, entry in layer.items() if key[0] not in others} for layer in layers]
    zone: dict[str, object] = {"timezone": system_zone(environ)}
    try:
        return _settings([found, *map(nested, ours), zone]), refusals
    except ValidationError as error:
        refusals.note(refused(error, merged, names))
        bad = refused_keys(error)
    left = [{key: entry for key, entry in layer.items() if not _is_in(key, bad)} for layer in ours]
    try:
        return _settings([found, *map(nested, left), zone]), refusals
    except ValidationError as error:
        refusals.note(refused(error, merged, names))
        raise SettingsError(*refusals.sentences) from error


def _settings(layers: list[dict[str, object]]) -> Settings:
    """Build the settings; earlier layers win. Raises ValidationError."""
    return Settings(_build_sources=(tuple(InitSettingsSource(Settings, layer) for layer in layers), {}))


def _is_in(key: Key, refused: Set[Key]) -> bool:
    """Return True if the setting's value, a part of it or its table was refused."""
    return any(key[: len(each)] == each[: len(key)] for each in refused)
