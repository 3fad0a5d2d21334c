"""Filling in a modal, as Discord's client does with what a user types, chooses and uploads."""

from collections.abc import Mapping

from pydantic import JsonValue

from parley.testing.emulators import discord_shapes as shapes
from parley.testing.emulators.discord_components import (
    FILE_UPLOAD,
    LABEL,
    SELECT,
    TEXT_INPUT,
    SelectFields,
    TextInputFields,
)
from parley.testing.emulators.discord_state import Channel, Form, Json, World

File = tuple[str, bytes, str]
"""Name, content and MIME type."""
Filled = str | File
LONGEST = 4000


def submitted(world: World, channel: Channel, form: Form, filled: Mapping[str, Filled]) -> Json:
    """Return what the client sends. Raises AssertionError for what it does not let anybody send."""
    files: Json = {}
    labels = [each for each in form.components if isinstance(each, dict) and each.get("type") == LABEL]
    unknown = filled.keys() - {str(each["label"]) for each in labels}
    if unknown:
        raise AssertionError(f"the modal {form.title!r} has no {unknown}")
    parts: list[JsonValue] = []
    for each in labels:
        field, value = each["component"], filled.get(str(each["label"]))
        assert isinstance(field, dict)
        answer: Json = {"type": field["type"], "custom_id": field["custom_id"], "id": 1}
        if field["type"] == TEXT_INPUT:
            answer["value"] = _typed(field, value)
        elif field["type"] == SELECT:
            answer["values"] = _chosen(field, value)
        elif field["type"] == FILE_UPLOAD:
            answer["values"] = _uploaded(world, channel, files, field, value)
        parts.append({"type": LABEL, "id": 1, "component": answer})
    return {"custom_id": form.data, "components": parts, **({"resolved": {"attachments": files}} if files else {})}


def _typed(field: Json, value: Filled | None) -> str:
    about = TextInputFields.model_validate(field)
    text = value if isinstance(value, str) else about.value or ""
    least = about.min_length or (1 if about.required else 0)
    if (text or about.required) and not least <= len(text) <= (about.max_length or LONGEST):
        raise AssertionError(f"the client lets nobody send {len(text)} characters as {about.custom_id}")
    return text


def _chosen(field: Json, value: Filled | None) -> list[JsonValue]:
    about = SelectFields.model_validate(field)
    options = {each.label: each.value for each in about.options}
    defaults: list[JsonValue] = [each.value for each in about.options if each.default]
    chosen: list[JsonValue] = [options[value]] if isinstance(value, str) else defaults
    if about.required and not chosen:
        raise AssertionError(f"the client lets nobody leave out {about.custom_id}")
    return chosen


def _uploaded(world: World, channel: Channel, files: Json, field: Json, value: Filled | None) -> list[JsonValue]:
    if not isinstance(value, tuple):
        if field.get("required", True):
            raise AssertionError(f"the client lets nobody leave out {field['custom_id']}")
        return []
    name, content, mime = value
    file = world.store(channel, name, mime, content)
    files[file.file_id] = shapes.attachment(world, file)
    return [file.file_id]
