"""What a person sets for one MCP server."""

import re
from collections.abc import Mapping
from typing import Annotated, Literal, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, SecretStr, model_validator

Class = Literal["exec", "net"]

_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_SECRET_NAME = re.compile(r"(KEY|TOKEN|SECRET|PASS|PASSWORD|PASSPHRASE|PAT|AUTH|CREDENTIALS?)$", re.IGNORECASE)
_OPEN_HEADERS = frozenset({"accept", "accept-language", "content-type", "user-agent"})
"""They hold words that stand in ordinary texts too."""
_PLAIN_VALUE = re.compile(r"[A-Za-z_.,:-]*|[~.]{0,2}/.*|\d{1,5}|https?://[^@?]*", re.DOTALL)
"""Words, paths, small numbers, addresses."""


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
    """For the server it is meant for."""
    return value.get_secret_value() if isinstance(value, SecretStr) else value


def _hidden(env: object) -> object:
    """What is no secret stays plain text: a path that is hidden wherever it occurs helps nobody."""
    if not isinstance(env, Mapping):
        return env
    return {
        name: SecretStr(value)
        if isinstance(value, str) and (_SECRET_NAME.search(name) or not _PLAIN_VALUE.fullmatch(value))
        else value
        for name, value in env.items()
    }


class McpServer(BaseModel):
    """Either `command` or `url` is set."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    command: tuple[Annotated[str, Field(min_length=1)], ...] = ()
    """A program with its arguments that speaks MCP on its standard input and output; it is not shut in."""
    env: Annotated[Mapping[str, str | SecretStr], BeforeValidator(_hidden)] = Field(default_factory=dict)
    """Added to PATH, HOME and LANG; nothing else of ours reaches the program."""
    url: Annotated[str, AfterValidator(_address)] | None = None
    """The address of a server that speaks MCP by streamable HTTP."""
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
        """What a call of its tools can do at worst."""
        return self.chosen or ("exec" if self.command else "net")
