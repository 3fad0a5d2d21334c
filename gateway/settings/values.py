"""Reads single values of the settings."""

import re
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, SecretStr

_NODE_NAME = re.compile("[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


def _person(entry: str) -> str:
    platform, colon, person = entry.strip().partition(":")
    if not (colon and platform.isidentifier() and person) or any(char.isspace() for char in person):
        raise ValueError(f"must hold entries such as telegram:123456789 (platform, colon, id), and {entry!r} is none")
    return f"{platform}:{person}"


def split(value: object) -> object:
    """Split a comma list."""
    return [part.strip() for part in value.split(",") if part.strip()] if isinstance(value, str) else value


def postgres(value: SecretStr) -> SecretStr:
    """Return the value if it is an address of PostgreSQL. Raises ValueError."""
    if not value.get_secret_value().startswith(("postgresql://", "postgres://")):
        raise ValueError("must begin with postgresql://")
    return value


def check_node_name(value: str) -> str:
    """Return the value if it can be the name of a node, and of its folder. Raises ValueError."""
    if not _NODE_NAME.fullmatch(value):
        raise ValueError("must be at most 100 letters, digits, dots, - and _, and begin with a letter or digit")
    return value


People = Annotated[frozenset[Annotated[str, AfterValidator(_person)]], BeforeValidator(split)]
