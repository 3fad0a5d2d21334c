"""Base classes for the values that channels exchange."""

from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict


def clean(text: object) -> object:
    """Join surrogate pairs and replace lone surrogates, which platforms' JSON may contain but UTF-8 cannot."""
    if isinstance(text, str) and not text.isascii():
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


Text = Annotated[str, BeforeValidator(clean)]


class Value(BaseModel):
    """A frozen model without unknown fields."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Known(Value):
    """Knowledge for finding a message that may already have been sent."""

    others: frozenset[str] = frozenset()
    """Ids of the bot's other messages in the chat."""
    since: float = 0.0
    """Earliest time at which it may have been sent, in seconds since the epoch by the local clock."""
