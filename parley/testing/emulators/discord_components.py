"""Discord's components in messages and modals: their fields, where each may be, and how many there may be."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Literal

from pydantic import Field, JsonValue, ValidationError

from parley.testing.emulators.discord_params import DiscordError, Emoji, Params
from parley.testing.emulators.discord_state import COMPONENTS_V2, Json

ROW, BUTTON, SELECT, TEXT_INPUT, SECTION, TEXT, THUMBNAIL, GALLERY, FILE, SEPARATOR = 1, 2, 3, 4, 9, 10, 11, 12, 13, 14
CONTAINER, LABEL, FILE_UPLOAD = 17, 18, 19
MOST_COMPONENTS = 40
MOST_CHARACTERS = 4000
MOST_IN_ROW = 5
LINK = 5
"""Style of a button with an address."""

Where = tuple[str | int, ...]
CustomId = Annotated[str, Field(min_length=1, max_length=100)]
Description = Annotated[str, Field(max_length=1024)]


class Media(Params):
    url: Annotated[str, Field(min_length=1, max_length=2048)]


class GalleryItem(Params):
    media: Media
    description: Description | None = None
    spoiler: bool = False


class Choice(Params):
    label: Annotated[str, Field(min_length=1, max_length=100)]
    value: Annotated[str, Field(min_length=1, max_length=100)]
    description: Annotated[str, Field(max_length=100)] | None = None
    emoji: Emoji | None = None
    default: bool = False


class Fields(Params):
    type: int
    id: int | None = None


class RowFields(Fields):
    pass


class ButtonFields(Fields):
    style: Literal[1, 2, 3, 4, 5]
    label: Annotated[str, Field(max_length=80)] = ""
    custom_id: CustomId | None = None
    url: Annotated[str, Field(max_length=512)] | None = None
    disabled: bool = False
    emoji: Emoji | None = None


class SelectFields(Fields):
    custom_id: CustomId
    options: Annotated[list[Choice], Field(min_length=1, max_length=25)]
    placeholder: Annotated[str, Field(max_length=150)] | None = None
    min_values: Annotated[int, Field(ge=0, le=25)] = 1
    max_values: Annotated[int, Field(ge=1, le=25)] = 1
    disabled: bool = False
    required: bool = True
    """Only in modals."""


class TextInputFields(Fields):
    custom_id: CustomId
    label: None = None
    """Its `Label` has one instead."""
    style: Literal[1, 2]
    min_length: Annotated[int, Field(ge=0, le=4000)] | None = None
    max_length: Annotated[int, Field(ge=1, le=4000)] | None = None
    required: bool = True
    value: Annotated[str, Field(max_length=4000)] | None = None
    placeholder: Annotated[str, Field(max_length=100)] | None = None


class TextFields(Fields):
    content: Annotated[str, Field(min_length=1, max_length=MOST_CHARACTERS)]


class ThumbnailFields(Fields):
    media: Media
    description: Description | None = None
    spoiler: bool = False


class GalleryFields(Fields):
    items: Annotated[list[GalleryItem], Field(min_length=1, max_length=10)]


class FileFields(Fields):
    file: Media
    spoiler: bool = False


class SeparatorFields(Fields):
    divider: bool = True
    spacing: Literal[1, 2] = 1


class ContainerFields(Fields):
    accent_color: Annotated[int, Field(ge=0, le=0xFFFFFF)] | None = None
    spoiler: bool = False


class LabelFields(Fields):
    label: Annotated[str, Field(min_length=1, max_length=45)]
    description: Annotated[str, Field(max_length=100)] | None = None


class FileUploadFields(Fields):
    custom_id: CustomId
    min_values: Annotated[int, Field(ge=0, le=10)] | None = None
    max_values: Annotated[int, Field(ge=1, le=10)] | None = None
    required: bool = True


@dataclass(frozen=True)
class Children:
    """The components that a field of a component may hold; a single one where `most` is None."""

    types: frozenset[int]
    most: int | None = None


@dataclass(frozen=True)
class Kind:
    fields: type[Fields]
    children: Mapping[str, Children] = field(default_factory=dict)


IN_MESSAGE = frozenset((ROW, SECTION, TEXT, GALLERY, FILE, SEPARATOR, CONTAINER))
IN_MODAL = frozenset((TEXT, LABEL))
KINDS: dict[int, Kind] = {
    ROW: Kind(RowFields, {"components": Children(frozenset((BUTTON, SELECT)), MOST_IN_ROW)}),
    BUTTON: Kind(ButtonFields),
    SELECT: Kind(SelectFields),
    TEXT_INPUT: Kind(TextInputFields),
    SECTION: Kind(
        Fields,
        {"components": Children(frozenset((TEXT,)), 3), "accessory": Children(frozenset((BUTTON, THUMBNAIL)))},
    ),
    TEXT: Kind(TextFields),
    THUMBNAIL: Kind(ThumbnailFields),
    GALLERY: Kind(GalleryFields),
    FILE: Kind(FileFields),
    SEPARATOR: Kind(SeparatorFields),
    CONTAINER: Kind(ContainerFields, {"components": Children(IN_MESSAGE - {CONTAINER}, MOST_COMPONENTS)}),
    LABEL: Kind(LabelFields, {"component": Children(frozenset((TEXT_INPUT, SELECT, FILE_UPLOAD)))}),
    FILE_UPLOAD: Kind(FileUploadFields),
}


def refusal(where: Where, code: str, message: str) -> DiscordError:
    """Return the error 50035 with the path to the invalid field."""
    errors: Json = {"_errors": [{"code": code, "message": message}]}
    for each in reversed(where):
        errors = {str(each): errors}
    return DiscordError(400, 50035, "Invalid Form Body", errors)


def walk(components: JsonValue) -> Iterator[Json]:
    """Yield the components and those in them, in the order of the screen."""
    for each in components if isinstance(components, list) else [components]:
        if isinstance(each, dict):
            yield each
            for name in ("components", "accessory", "component"):
                yield from walk(each.get(name, []))


def check_message(components: Sequence[JsonValue], flags: int) -> None:
    """Check the components of a message with these flags. Raises DiscordError."""
    is_new = bool(flags & COMPONENTS_V2)
    limit = Children(IN_MESSAGE, MOST_COMPONENTS) if is_new else Children(frozenset((ROW,)), MOST_IN_ROW)
    _check_list([*components], limit, ("components",), least=0)
    found = [*walk([*components])]
    if len(found) > MOST_COMPONENTS:
        raise refusal(
            ("components",), "COMPONENT_MAX_TOTAL_COMPONENTS_EXCEEDED", "The total number of components exceeds 40"
        )
    if sum(len(str(each["content"])) for each in found if each["type"] == TEXT) > MOST_CHARACTERS:
        words = f"Components displayable text size exceeds maximum size of {MOST_CHARACTERS}"
        raise refusal(("components",), "COMPONENT_DISPLAYABLE_TEXT_SIZE_EXCEEDED", words)


def check_modal(title: str | None, custom_id: str | None, components: Sequence[JsonValue]) -> None:
    """Check a modal. Raises DiscordError."""
    for name, value, most in (("title", title, 45), ("custom_id", custom_id, 100)):
        if value is None or not 1 <= len(value) <= most:
            raise refusal(("data", name), "BASE_TYPE_BAD_LENGTH", f"Must be between 1 and {most} in length.")
    _check_list([*components], Children(IN_MODAL, MOST_IN_ROW), ("data", "components"))


def _check_list(components: list[JsonValue], allowed: Children, where: Where, least: int = 1) -> None:
    if not least <= len(components) <= (allowed.most or 1):
        raise refusal(where, "BASE_TYPE_BAD_LENGTH", f"Must be between {least} and {allowed.most} in length.")
    for number, each in enumerate(components):
        _check(each, allowed.types, (*where, number))
    if where[-1] == "components" and len(components) > 1 and _has(components, SELECT):
        raise refusal(where, "COMPONENT_LAYOUT_WIDTH_EXCEEDED", "The specified component exceeds the maximum width")
    seen: set[JsonValue] = set()
    for each in walk(components) if where in (("components",), ("data", "components")) else ():
        custom_id = each.get("custom_id")
        if isinstance(custom_id, str) and custom_id in seen:
            raise refusal(where, "COMPONENT_CUSTOM_ID_DUPLICATED", "Component custom id cannot be duplicated")
        seen.add(custom_id if isinstance(custom_id, str) else None)


def _has(components: list[JsonValue], kind: int) -> bool:
    return any(isinstance(each, dict) and each.get("type") == kind for each in components)


def _check(component: JsonValue, types: frozenset[int], where: Where) -> None:
    kind = component.get("type") if isinstance(component, dict) else None
    if not isinstance(component, dict) or not isinstance(kind, int) or kind not in types:
        words = f'Value of field "type" must be one of {tuple(sorted(types))}.'
        raise refusal((*where, "type"), "UNION_TYPE_CHOICES", words)
    known = KINDS[kind]
    try:
        own = {key: each for key, each in component.items() if key not in known.children}
        fields = known.fields.model_validate(own)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        code = "BASE_TYPE_REQUIRED" if first["type"] == "missing" else "BASE_TYPE_BAD_LENGTH"
        raise refusal((*where, *first["loc"]), code, first["msg"]) from error
    for name, allowed in known.children.items():
        inner = component.get(name)
        if allowed.most is None:
            _check(inner, allowed.types, (*where, name))
        else:
            _check_list(inner if isinstance(inner, list) else [], allowed, (*where, name))
    if isinstance(fields, ButtonFields):
        _check_button(fields, where)
    if isinstance(fields, SelectFields):
        _check_select(fields, where)


def _check_button(button: ButtonFields, where: Where) -> None:
    if (button.url is None) == (button.custom_id is None) or (button.style == LINK) != (button.url is not None):
        raise refusal(where, "BUTTON_COMPONENT_INVALID", "A button has a custom id or, with style 5, a url")
    if not button.label and button.emoji is None:
        raise refusal(where, "BUTTON_COMPONENT_INVALID_LABEL", "A button must have a label or an emoji")


def _check_select(menu: SelectFields, where: Where) -> None:
    if menu.min_values > menu.max_values or menu.max_values > len(menu.options):
        words = "min_values must be at most max_values, and max_values at most the number of options"
        raise refusal((*where, "max_values"), "BASE_TYPE_BAD_INT", words)
    if sum(each.default for each in menu.options) > menu.max_values:
        raise refusal((*where, "options"), "SELECT_COMPONENT_TOO_MANY_DEFAULT_VALUES", "too many default options")
    seen: set[str] = set()
    for number, each in enumerate(menu.options):
        if each.value in seen:
            words = "The specified option value is already used"
            raise refusal((*where, "options", number, "value"), "SELECT_COMPONENT_OPTION_VALUE_DUPLICATED", words)
        seen.add(each.value)
