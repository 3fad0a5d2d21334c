"""Base classes for the values that channels exchange, and for what platforms send."""

from collections.abc import Collection
from typing import Annotated, ClassVar, Literal, Self, TypeVar

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    ModelWrapValidatorHandler,
    PrivateAttr,
    ValidationError,
    model_validator,
)


def clean(text: object) -> object:
    """Join surrogate pairs and replace lone surrogates, which platforms' JSON may contain but UTF-8 cannot."""
    if isinstance(text, str) and not text.isascii():
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


Text = Annotated[str, BeforeValidator(clean)]

LONGEST_REASON = 300
"""Characters of what a platform gives as the reason of a refusal."""


class Value(BaseModel):
    """A frozen model without unknown fields."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class Wire(BaseModel):
    """The used fields of a platform's payload; all others are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore", defer_build=True)


Place = tuple[int | str, ...]


class Forgiving(Wire):
    """A payload that is read without its parts of an unexpected shape, so that one odd part loses only itself."""

    decides: ClassVar[frozenset[str]] = frozenset()
    """Fields that tell who wrote what where, as the payload names them. If one is odd, nothing is read."""
    _odd: frozenset[str] = PrivateAttr(default=frozenset())

    @property
    def odd(self) -> frozenset[str]:
        """The fields, as the payload names them, that were left out or are lists without some of their parts."""
        return self._odd

    @model_validator(mode="wrap")
    @classmethod
    def _without_odd_parts(cls, raw: object, read: ModelWrapValidatorHandler[Self]) -> Self:
        try:
            return read(raw)
        except ValidationError as error:
            places = {each["loc"][:2] for each in error.errors(include_url=False, include_input=False)}
            if not isinstance(raw, dict):
                raise
            odd = frozenset(str(place[0]) for place in places if place and raw.get(place[0]) is not None)
            if odd & cls.decides:
                raise
            known = read(_kept(raw, places))
            known._odd = odd  # noqa: SLF001 (of this class)
            return known


def _kept(raw: dict[str, object], places: Collection[Place]) -> dict[str, object]:
    """Return a payload without the values, and without the parts of lists, at these places."""
    kept = dict(raw)
    for name in {place[0] for place in places if place}:
        value = raw.get(str(name))
        odd = {place[1] for place in places if len(place) > 1 and place[0] == name}
        if isinstance(value, list) and odd:
            kept[str(name)] = [part for number, part in enumerate(value) if number not in odd]
        else:
            kept.pop(str(name), None)
    return kept


W = TypeVar("W", bound=Wire)


def parse(kind: type[W], raw: object) -> W | None:
    """Parse a payload; return None if its shape is not the documented one."""
    try:
        return kind.model_validate(raw)
    except ValidationError:
        return None


class Known(Value):
    """Knowledge for finding a message that may already have been sent."""

    others: frozenset[str] = frozenset()
    """Ids of the bot's other messages in the chat."""
    since: float = 0.0
    """Earliest time at which it may have been sent, in seconds since the epoch by the local clock."""


class CallRow(Value):
    """A tool call of the run that a message shows."""

    id: str
    label: Text
    """The tool and its target."""
    state: Literal["running", "waiting", "done", "failed"]
    note: Text = ""
    """What the call says while it runs, or a summary of its result."""
    ms: int | None = None
    """How long it took, once it has ended."""


class Standing(Value):
    """A sender's roles on the server, by id, and if it is a full member of the workspace (no guest, no outsider)."""

    roles: tuple[str, ...] = ()
    is_full_member: bool = False


def told(reason: str) -> str:
    """Return a platform's reason as one line of a length that people read, without half a word: it may be a secret."""
    line = " ".join("".join(char if char.isprintable() else " " for char in reason).split())
    return line if len(line) <= LONGEST_REASON else f"{line[:LONGEST_REASON].rpartition(' ')[0]} …"
