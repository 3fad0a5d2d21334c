"""What tells one provider's chat protocol from another's: what its answers carry, and what it refuses."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from pydantic import JsonValue

from tests.emulators.model_script import Json

Handed = Mapping[str, Json]
"""The answers that a server has given with calls, each by the ids of its calls."""
Rule = Callable[[Json, Handed], str | None]
"""Returns the sentence with which a request is refused, or None."""
Lesson = Callable[[Json], str | None]
"""Returns the sentence that refuses a parameter, which a client cannot know before, or None."""
ErrorForm = Callable[[str], Json]


def openai_error(sentence: str) -> Json:
    """Return the error that OpenAI and most of its imitators send."""
    return {"error": {"message": sentence, "type": "invalid_request_error", "param": None, "code": None}}


def openai_id(number: int) -> str:
    return f"call_{number:024d}"


@dataclass(frozen=True)
class Dialect:
    """One provider's way to speak OpenAI's chat protocol."""

    name: str
    model: str
    """The model's name on the wire; litellm's has the provider in front."""
    client: Literal["own", "litellm"]
    """The client that people get for this provider."""
    provider: str = "server"
    path: str = "/v1"
    reasoning_in: Literal["", "reasoning_content", "reasoning", "reasoning_details"] = ""
    """The field in which reasoning comes."""
    signs_calls: bool = False
    """The first call of an answer has a signature in `extra_content`."""
    parameters: frozenset[str] = frozenset()
    """Parameters that it takes beside those of OpenAI."""
    rules: tuple[Rule, ...] = ()
    lessons: tuple[Lesson, ...] = ()
    error: ErrorForm = openai_error
    call_id: Callable[[int], str] = openai_id
    opening: Json | None = None
    """A chunk that it sends before all others."""
    cannot: str = ""
    """What Parley cannot do there, for the table in the documents."""


def assistant_calls(body: Json) -> list[tuple[int, Json, list[Json]]]:
    """Return the answers with calls in a request: place, message, calls."""
    found = []
    for place, message in enumerate(_objects(body.get("messages"))):
        calls = _objects(message.get("tool_calls"))
        if message.get("role") == "assistant" and calls:
            found.append((place, message, calls))
    return found


def messages_of(body: Json) -> list[Json]:
    return _objects(body.get("messages"))


def _objects(value: JsonValue) -> list[Json]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []
