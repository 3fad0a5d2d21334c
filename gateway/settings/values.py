"""Reads single values of the settings."""

from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, SecretStr

from agent_core.models.audio import audio_server


def _person(entry: str) -> str:
    platform, colon, person = entry.strip().partition(":")
    if not (colon and platform.isidentifier() and person) or any(char.isspace() for char in person):
        raise ValueError(f"must hold entries such as telegram:123456789 (platform, colon, id), and {entry!r} is none")
    return f"{platform}:{person}"


def split(value: object) -> object:
    """Split a comma list."""
    return [part.strip() for part in value.split(",") if part.strip()] if isinstance(value, str) else value


def audio(value: str) -> str:
    """Return the value if it names an audio server. Raises ValueError."""
    audio_server(value, "speech", None, None)
    return value


def postgres(value: SecretStr) -> SecretStr:
    """Return the value if it is an address of PostgreSQL. Raises ValueError."""
    if not value.get_secret_value().startswith(("postgresql://", "postgres://")):
        raise ValueError("must begin with postgresql://")
    return value


People = Annotated[frozenset[Annotated[str, AfterValidator(_person)]], BeforeValidator(split)]
