"""Base classes for the values that channels exchange, and for what platforms send."""

from typing import Annotated, Literal, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError


def clean(text: object) -> object:
    """Join surrogate pairs and replace lone surrogates, which platforms' JSON may contain but UTF-8 cannot."""
    if isinstance(text, str) and not text.isascii():
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


Text = Annotated[str, BeforeValidator(clean)]


class Value(BaseModel):
    """A frozen model without unknown fields."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Wire(BaseModel):
    """The used fields of a platform's payload; all others are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore")


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
