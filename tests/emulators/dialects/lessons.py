"""Parameters that a model does not take, and the words with which its server refuses them."""

from dataclasses import dataclass

from pydantic import JsonValue

from tests.emulators.model_script import Json


@dataclass(frozen=True)
class Lesson:
    """A parameter that a model does not take, except with one value."""

    parameter: str
    """Its name; `thinking.budget_tokens` is a field of an object."""
    sentence: str
    """What the server says; `{}` is the value that it got."""
    unless: JsonValue = None
    beside: str = ""
    """Another parameter, without which it is taken."""
    known: bool = False
    """Clients know it from litellm or from the protocol. What is not known, the first refusal teaches."""

    def refusal(self, body: Json) -> str | None:
        """Return the sentence if the request has the parameter, else None."""
        value = _value(body, self.parameter)
        if value is None or (self.unless is not None and value == self.unless):
            return None
        return None if self.beside and _value(body, self.beside) is None else self.sentence.format(value)


def _value(body: JsonValue, name: str) -> JsonValue:
    """Return a parameter of a request; None if it is not there."""
    for each in name.split("."):
        body = body.get(each) if isinstance(body, dict) else None
    return body
