"""Settings of one MCP server."""

import hashlib
import re
from collections.abc import Collection, Iterable, Mapping
from typing import Annotated, Literal, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, SecretStr, model_validator

LONGEST_NAME = 64
"""Characters; a limit of the model providers."""
LONGEST = 300
"""Characters of a description."""

_UNFIT = re.compile(r"[^a-zA-Z0-9_-]+")
Class = Literal["exec", "net"]

_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_SECRET_NAME = re.compile(r"(KEY|TOKEN|SECRET|PASS|PASSWORD|PASSPHRASE|PAT|AUTH|CREDENTIALS?)$", re.IGNORECASE)
_OPEN_HEADERS = frozenset({"accept", "accept-language", "content-type", "user-agent"})
"""Their values also occur in ordinary text, so they are not masked."""
_PLAIN_VALUE = re.compile(r"[A-Za-z_.,:-]*|[~.]{0,2}/.*|\d{1,5}|https?://[^@?]*", re.DOTALL)
"""Words, paths, small numbers and addresses: values that are no secrets."""


def plain(text: str, most: int = LONGEST) -> str:
    """Return the text as one line of at most `most` characters, without control or invisible characters."""
    text = "".join(char if char.isprintable() else " " for char in text[: 4 * most])
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1]}…"


def tool_names(server: str, originals: Iterable[str], taken: Collection[str] = ()) -> Mapping[str, str]:
    """Map the server's tool names to unique ones of the form `<server>_<tool>`.

    A name that is too long or taken ends in a checksum, so that it does not change when other tools come and go. Server
    names contain no `_`, so tools of two servers cannot collide.
    """
    used = set(taken)
    names: dict[str, str] = {}
    for original in sorted(set(originals), key=lambda name: (_UNFIT.search(name) is not None, name)):
        name = _UNFIT.sub("_", f"{server}_{original}")
        if len(name) > LONGEST_NAME or name in used:
            checksum = hashlib.sha256(f"{server}\0{original}".encode(errors="replace")).hexdigest()[:8]
            name = f"{name[: LONGEST_NAME - 9]}_{checksum}"
        used.add(name)
        names[original] = name
    return names


def _address(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("must begin with https:// (or http:// on your own network)")
    if parts.username or parts.password:
        raise ValueError("must not hold a name or a password: send them in headers")
    return url


def _headers(headers: Mapping[str, str | SecretStr]) -> Mapping[str, str | SecretStr]:
    for name, value in headers.items():
        text = revealed(value)
        if not _HEADER_NAME.fullmatch(name) or not (text.isascii() and text.isprintable()):
            raise ValueError(f"{name!r} is no header that can be sent: plain ASCII letters in one line")
    return headers


def _hidden_headers(headers: object) -> object:
    if not isinstance(headers, Mapping):
        return headers
    return {
        name: SecretStr(value) if isinstance(value, str) and str(name).lower() not in _OPEN_HEADERS else value
        for name, value in headers.items()
    }


def revealed(value: str | SecretStr) -> str:
    """Return the plain text, for the server it is meant for."""
    return value.get_secret_value() if isinstance(value, SecretStr) else value


def _hidden(env: object) -> object:
    """Wrap secrets, but leave other values as plain text: masking a path wherever it occurs would only do harm."""
    if not isinstance(env, Mapping):
        return env
    return {
        name: SecretStr(value)
        if isinstance(value, str) and (_SECRET_NAME.search(name) or not _PLAIN_VALUE.fullmatch(value))
        else value
        for name, value in env.items()
    }


class McpServer(BaseModel):
    """One MCP server; either `command` or `url` is set."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    command: tuple[Annotated[str, Field(min_length=1)], ...] = ()
    """A program with arguments that speaks MCP on its standard input and output; it is not sandboxed."""
    env: Annotated[Mapping[str, str | SecretStr], BeforeValidator(_hidden)] = Field(default_factory=dict)
    """Added to PATH, HOME and LANG; no other environment variables are passed on."""
    url: Annotated[str, AfterValidator(_address)] | None = None
    """The address of a server that speaks MCP over streamable HTTP."""
    headers: Annotated[Mapping[str, str | SecretStr], BeforeValidator(_hidden_headers), AfterValidator(_headers)] = (
        Field(default_factory=dict)
    )
    chosen: Class | None = Field(default=None, alias="class")

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if bool(self.command) == bool(self.url):
            raise ValueError('an MCP server has either command = ["...", "..."] or url = "https://..."')
        if self.env and self.url:
            raise ValueError("env is for servers with a command; one with a url takes headers")
        if self.headers and self.command:
            raise ValueError("headers are for servers with a url; one with a command takes env")
        return self

    @property
    def acts(self) -> Class:
        """Return the most that a call of its tools can do."""
        return self.chosen or ("exec" if self.command else "net")
