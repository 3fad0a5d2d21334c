"""Stored values that cannot be read any more, as after a bit has flipped on the disk."""

from pydantic import JsonValue

from agent_core.json_text import UNREADABLE, read_json


def stored_object(text: str) -> dict[str, JsonValue]:
    """Parse a JSON object. Raises one of UNREADABLE."""
    value = read_json(text)
    if not isinstance(value, dict):
        raise TypeError(f"{text[:20]} is no object")
    return value


def stored_texts(text: str) -> tuple[str, ...]:
    """Parse a JSON list of texts. Raises one of UNREADABLE."""
    return texts_of(read_json(text))


def texts_of(value: JsonValue) -> tuple[str, ...]:
    """Return the texts of a list that was read. Raises TypeError for what is no list."""
    if not isinstance(value, list):
        raise TypeError("it is no list")
    return tuple(map(str, value))


def objects_in(value: JsonValue) -> list[dict[str, JsonValue]]:
    """Return the objects of a list that was read; none for what is no list."""
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def texts_in(stored: str) -> tuple[str, ...] | None:
    """Parse a JSON list of texts; None if it cannot be read."""
    try:
        return stored_texts(stored)
    except UNREADABLE:
        return None
