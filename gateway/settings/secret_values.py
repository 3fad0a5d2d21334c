"""Finds the secrets among the values of settings and variables."""

import re
from collections.abc import Iterable, Iterator, Mapping
from urllib.parse import parse_qsl, unquote, urlsplit

from pydantic import BaseModel, SecretStr

SECRET_NAME = re.compile(r"(_KEY|_TOKEN|_SECRET|_PASSWORD|_PASSWD|_PASS|_PAT)S?$|^(TOKEN|SECRET|PASSWORD)$")
_PASSWORD = re.compile(r"://[^/\s:@]*:([^/\s@]+)@")
"""Password in an address, such as that of a proxy."""


def secrets_named(variables: Mapping[str, str]) -> Iterator[str]:
    """Yield the values of variables whose names are those of secrets."""
    return (value for name, value in variables.items() if SECRET_NAME.search(name))


def passwords_in(addresses: Iterable[str]) -> Iterator[str]:
    """Yield the passwords in addresses, as they are written and as they are meant."""
    for address in addresses:
        for found in _PASSWORD.finditer(address):
            yield from (found[1], unquote(found[1]))


def secrets_in_queries(addresses: Iterable[str | None]) -> Iterator[str]:
    """Yield what the queries of addresses call a secret."""
    for address in addresses:
        for name, value in parse_qsl(urlsplit(address or "").query):
            if SECRET_NAME.search(f"_{name.upper()}"):
                yield value


def secrets_in(value: object) -> Iterator[str]:
    """Yield the secrets in a setting, at any depth."""
    match value:
        case SecretStr():
            yield value.get_secret_value()
        case BaseModel():
            for _, field in value:
                yield from secrets_in(field)
        case Mapping():
            for item in value.values():
                yield from secrets_in(item)
        case tuple() | list():
            for item in value:
                yield from secrets_in(item)
