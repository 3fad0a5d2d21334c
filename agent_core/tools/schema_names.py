"""Names of schemas within the schema of a tool's arguments, which only some servers of models follow.

A schema may have a name of its own, `$id` or `$anchor`, by which others refer to it, as TypeBox writes it. Such
references become ones to the place where it stands.
"""

from collections.abc import Iterator
from urllib.parse import quote, urljoin

from pydantic import JsonValue

from agent_core.messages import JsonObject
from agent_core.tools.schema_keywords import BY_NAME, DATA

_IDS = ("$id", "id")
_ANCHORS = ("$anchor", "$dynamicAnchor")
_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
ROOT = "#"


def by_place(document: JsonObject) -> JsonObject:
    """Return the document with its references by name as references to a place; those to no name stay as they are."""
    places: dict[str, str] = {}
    for name, place in _named(document, ROOT, ""):
        places.setdefault(name, place)
    moved = _moved(document, "", places)
    return moved if isinstance(moved, dict) else document


def _named(schema: JsonValue, place: str, base: str) -> Iterator[tuple[str, str]]:
    """Yield the names of the schemas in one, with their places."""
    if isinstance(schema, list):
        for index, each in enumerate(schema):
            yield from _named(each, f"{place}/{index}", base)
    if not isinstance(schema, dict):
        return
    base = _base(schema, base)
    yield base, place
    own = [_text(schema, name).lstrip("#") for name in _ANCHORS]
    own += [identity[1:] for name in _IDS if (identity := _text(schema, name)).startswith("#")]
    for anchor in filter(None, own):
        yield f"{base}#{anchor}", place
        yield f"#{anchor}", place
    for key, item in schema.items():
        inside = f"{place}/{_step(key)}"
        if key in BY_NAME and isinstance(item, dict):
            for name, each in item.items():
                yield from _named(each, f"{inside}/{_step(name)}", base)
        elif key not in DATA:
            yield from _named(item, inside, base)


def _moved(schema: JsonValue, base: str, places: dict[str, str]) -> JsonValue:
    if isinstance(schema, list):
        return [_moved(each, base, places) for each in schema]
    if not isinstance(schema, dict):
        return schema
    base = _base(schema, base)
    found: JsonObject = {}
    for key, item in schema.items():
        if key in _REFERENCES and isinstance(item, str):
            address = _address(item, base, places)
            found |= {"$ref": address} if address else {key: item}
        elif key in BY_NAME and isinstance(item, dict):
            found[key] = {name: _moved(each, base, places) for name, each in item.items()}
        else:
            found[key] = item if key in DATA else _moved(item, base, places)
    return found


def _address(reference: str, base: str, places: dict[str, str]) -> str | None:
    """Return the place that a reference names; None if it is a place already, or names nothing here."""
    document, sign, fragment = reference.partition("#")
    if not document and (not fragment or fragment.startswith("/")):
        return reference if sign and not fragment else None
    whole = _joined(base, document) if document else base
    if fragment and not fragment.startswith("/"):
        return places.get(f"{whole}#{fragment}") or places.get(f"#{fragment}")
    place = places.get(whole) if whole else None
    return place and f"{place}{fragment}"


def _base(schema: JsonObject, around: str) -> str:
    """Return the address to which references in a schema are relative."""
    own = next((each for name in _IDS if (each := _text(schema, name))), "").partition("#")[0]
    return _joined(around, own) if own else around


def _joined(base: str, address: str) -> str:
    try:
        return urljoin(base, address)
    except ValueError:  # as for `http://[`
        return address


def _text(schema: JsonObject, name: str) -> str:
    value = schema.get(name)
    return value if isinstance(value, str) else ""


def _step(key: str) -> str:
    return quote(key.replace("~", "~0").replace("/", "~1"), safe="$~")
