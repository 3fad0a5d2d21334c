"""The steps of a guide, with texts that are ready to be shown: secrets masked, names between backticks."""

import json
from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from channels.checkup import Finding
from channels.values import Value
from gateway.texts.findings import finding_in
from gateway.texts.say import Language


class Line(Value):
    """One result of a check. A problem has to be fixed; a note is only information."""

    mark: Literal["ok", "note", "problem"]
    what: str
    fix: str = ""

    @classmethod
    def of(cls, finding: Finding, language: Language) -> "Line":
        what, fix = finding_in(finding.what, language), finding_in(finding.fix, language)
        return cls(mark=finding.mark, what=what, fix=fix)


class Choice(Value):
    """One of the answers that are offered."""

    value: str
    label: str


class Busy(Value):
    """Nothing to do: something is being asked or started."""

    type: Literal["busy"] = "busy"
    text: str


class Ask(Value):
    """Asks for a value."""

    type: Literal["ask"] = "ask"
    label: str
    """The name of the value, and where to find it."""
    text: str = ""
    """What to do first."""
    link: str = ""
    """The address to open for that."""
    is_secret: bool = False
    """The answer must not be shown."""
    default: str = ""
    """The value for an empty answer."""
    choices: tuple[Choice, ...] = Field(default=())
    """The values that can be chosen; if there are any, others are refused."""
    pasted: str = ""
    """The name of a secret that may be given in place of a choice; empty if none may."""
    trouble: str = ""
    """The reason why the last answer was not taken."""
    is_kept: bool = False
    """True if a value that was entered before stays if the answer is empty."""


class Form(Value):
    """Asks for several values at once; the answer is made by `packed`. Each field has a trouble of its own."""

    type: Literal["form"] = "form"
    fields: tuple[Ask, ...]
    text: str = ""
    """What to do first."""
    link: str = ""
    """The address to open for that."""
    instead: Choice | None = None
    """An answer that may be given in place of all values."""
    trouble: str = ""
    """The reason why the last answer was not taken."""

    @staticmethod
    def packed(values: Sequence[str]) -> str:
        """Return the values of the fields, in their order, as one answer."""
        return json.dumps(list(values))

    def unpacked(self, answer: str) -> tuple[str, ...]:
        """Return the value of each field; an empty one is the field's default."""
        values = json.loads(answer)
        return tuple(value or field.default for value, field in zip(values, self.fields, strict=True))


class Check(Value):
    """Names what has to be fixed. SKIP goes on without, if that is possible; any other answer checks again."""

    type: Literal["check"] = "check"
    text: str
    findings: tuple[Line, ...]
    can_wait: bool = False
    """True if everything can be fixed later."""


class Listen(Value):
    """Waits until somebody writes to the account. The next step comes by itself, and answers are ignored."""

    type: Literal["listen"] = "listen"
    text: str
    link: str = ""
    findings: tuple[Line, ...] = ()
    """What was found, for information."""


class Confirm(Value):
    """Asks for a yes or no: `yes` or `no` is the answer."""

    type: Literal["confirm"] = "confirm"
    text: str


class Failed(Value):
    """Something outside has to be put right. Any answer tries again."""

    type: Literal["failed"] = "failed"
    text: str


class Done(Value):
    """The end: what was written and what happens now, each a sentence."""

    type: Literal["done"] = "done"
    lines: tuple[str, ...]


Step = Busy | Ask | Form | Check | Listen | Confirm | Failed | Done
YES, NO, SKIP = "yes", "no", "skip"
