"""Parameters that a server refuses although no client can know it beforehand: the refusal teaches it."""

from dataclasses import dataclass

from pydantic import JsonValue

from tests.emulators.model_script import Json


@dataclass(frozen=True)
class Lesson:
    """A parameter that a model does not take, except with one value."""

    parameter: str
    sentence: str
    """What the server says; `{}` is the value that it got."""
    unless: JsonValue = None

    def refusal(self, body: Json) -> str | None:
        """Return the sentence if the request has the parameter, else None."""
        if self.parameter not in body or (self.unless is not None and body[self.parameter] == self.unless):
            return None
        return self.sentence.format(body[self.parameter])
