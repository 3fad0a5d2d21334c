"""Errors inside a stream, in the shapes that servers give them."""

import json
from collections.abc import Mapping

from msgspec import Struct

from agent_core.messages import clean

_MESSAGES = ("message", "msg", "error_msg", "error_message", "status_msg", "detail")
_CODES = ("code", "error_code", "status_code")
_NO_ERROR = frozenset({"0", "200", "success", "ok"})


class WireError(Struct, frozen=True):
    """An error inside a stream."""

    message: str = ""
    code: str = ""
    type: str = ""


def error_in(fields: Mapping[str, object]) -> WireError | None:
    """Return the error that a chunk reports: as an object, a list, a text, or the chunk itself if it has no choices."""
    error = fields.get("error") or fields.get("errors")
    if not error:
        if fields.get("choices"):
            return None
        answered = fields.get("base_resp")  # MiniMax
        error = answered if isinstance(answered, Mapping) else fields
        if not (any(map(error.get, _MESSAGES)) or error.get("object") == "error"):
            return None
        if _first(error, _CODES).lower() in _NO_ERROR:
            return None
    return _read(error)


def _read(error: object) -> WireError | None:
    if isinstance(error, list | tuple):
        error = next(iter(error), None)
    if isinstance(error, str) and error:
        return WireError(message=str(clean(error)))
    if not isinstance(error, Mapping) or not error:
        return None
    return WireError(message=_first(error, _MESSAGES), code=_first(error, _CODES), type=_first(error, ("type",)))


def _first(fields: Mapping[str, object], names: tuple[str, ...]) -> str:
    return next((_text(found) for name in names if (found := fields.get(name)) not in (None, "")), "")


def _text(value: object) -> str:
    if isinstance(value, str | int | float):
        return str(clean(str(value)))
    return str(clean(json.dumps(value, ensure_ascii=False, default=str)))
