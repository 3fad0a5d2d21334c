"""JSON that others have written, read only as deep as any honest text goes.

The parser of the standard library goes as deep as the stack does. Whatever happens to run on a full stack fails too,
such as the finalizer of an object that the garbage collector finds just then.
"""

import ast
import json
import re

from pydantic import JsonValue

UNREADABLE = (ValueError, TypeError, LookupError, ArithmeticError, AttributeError, RecursionError)
"""What reading a stored value raises if it is none: also JSON of another form or too deep, and times of no calendar."""
DEEPEST = 200
"""Lists and objects inside of each other; pydantic's parser goes as deep."""
_DECODER = json.JSONDecoder()
_LENIENT = json.JSONDecoder(strict=False)
_SPACE = re.compile(r"[ \t\r\n]*")
_TOKEN = re.compile(r'"(?:[^"\\]++|\\.)*+"?|[\[{\]}]', re.DOTALL)


class TooDeep(ValueError):
    """Lists and objects stand in each other deeper than is read."""


def read_json(text: str | bytes, *, strict: bool = True) -> JsonValue:
    """Return the value of a JSON text. Raises TooDeep, or another ValueError if it is no JSON.

    Line breaks and tabs are allowed inside of texts if it is not `strict`.
    """
    if isinstance(text, bytes):
        text = text.decode(json.detect_encoding(text), "surrogatepass")
    if text.count("[") + text.count("{") > DEEPEST:
        _check_depth(text, 0)
    value: JsonValue = json.loads(text, strict=strict)
    return value


def read_first(text: str, place: int = 0, *, strict: bool = True) -> tuple[JsonValue, int]:
    """Return the JSON value that begins at a place, and the place behind it. Raises as `read_json` does."""
    _check_depth(text, place)
    decoder = _DECODER if strict else _LENIENT
    value: JsonValue
    value, end = decoder.raw_decode(text, place)
    return value, end


def _check_depth(text: str, place: int) -> None:
    """Raise TooDeep if the value that begins at a place, or behind space, is nested too deep."""
    space = _SPACE.match(text, place)
    place = space.end() if space else place
    if text[place : place + 1] not in ("[", "{"):
        return
    depth = 0
    for token in _TOKEN.finditer(text, place):
        if token[0] in "[{":
            depth += 1
            if depth > DEEPEST:
                raise TooDeep(f"more than {DEEPEST} lists and objects inside of each other")
        elif token[0] in "]}":
            depth -= 1
            if depth == 0:
                return


def read_python(text: str) -> JsonValue:
    """Return what Python reads in a text, with single quotes or a comma too many; None if that is no JSON either."""
    try:
        value: JsonValue = ast.literal_eval(text)
        json.dumps(value)
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        return None
    return value
