"""A question to people about a tool call, and its transitions, without I/O: may it be made, or a question of the model.

pending -> approved | denied | expired | withdrawn; approved -> used | expired | withdrawn. There are no others.
"""

import json
from enum import StrEnum

from msgspec import Struct
from msgspec.structs import replace

from agent_core.json_text import UNREADABLE, read_json
from agent_core.sources import UNKNOWN, Sources
from channels.base import ChatKey
from gateway.store.unreadable import texts_in, texts_of

ASK = "ask_user"
"""The tool with which the model asks a question of its own."""


class QuestionState(StrEnum):
    PENDING = "pending"
    APPROVED = "approved"
    USED = "used"
    """The approved call was let through; that happens once."""
    DENIED = "denied"
    EXPIRED = "expired"
    WITHDRAWN = "withdrawn"
    """The answer is no longer needed, or the call changed after its approval."""


class Grounds(Struct, frozen=True):
    """The reasons for which an approval is asked for."""

    why: tuple[str, ...] = ()
    """Keys of texts, one sentence each, which may name the sources."""
    sources: Sources = ()
    """Untrusted sources that may have prompted the call."""
    setting: str = ""
    """Name of the setting that decided, such as `owner.net`."""

    def __str__(self) -> str:
        return json.dumps([self.why, self.sources, self.setting], ensure_ascii=False)

    @classmethod
    def parse(cls, written: str) -> "Grounds":
        """Parse the output of `str`; an empty text has none, as questions of earlier versions."""
        if not written:
            return cls()
        try:
            match read_json(written):
                case [why, sources, str(setting)]:
                    return cls(texts_of(why), texts_of(sources), setting)
                case _:
                    return cls(sources=(UNKNOWN,))
        except UNREADABLE:
            return cls(sources=(UNKNOWN,))


class Question(Struct, frozen=True):
    """A row of the table. Each step returns the question in its new state, or itself if the step does not apply."""

    id: str
    """Six characters, to be typed by users."""
    run: str
    session: str
    call: str
    chat: ChatKey
    person: str
    """The sender id of the user who started the run."""
    tool: str
    fingerprint: str
    """A digest of the call that an approval is bound to."""
    what: str
    """A full description of the call for users."""
    language: str
    asked_at: float
    expires_at: float
    """Seconds since the epoch; a restart does not extend it."""
    state: QuestionState = QuestionState.PENDING
    answered_by: str | None = None
    answered_at: float | None = None
    subject: str = ""
    """The subject of a rule that would always allow the call; empty if there can be no such rule."""
    bound: str = ""
    """A digest of the state that the subject must be in for that rule to apply."""
    choices: str = ""
    """For a question of the model: the choices that it offers, as a JSON list; empty for an approval."""
    answer: str = ""
    """The answer to a question of the model."""
    grounds: str = ""
    """Why an approval is asked for, as `str(Grounds)`."""

    @property
    def is_of_model(self) -> bool:
        """True for a question of the model, False for an approval."""
        return self.tool == ASK and bool(self.choices)  # a damaged approval must not take any words for a yes

    @property
    def options(self) -> tuple[str, ...]:
        """The choices of a question of the model."""
        return texts_in(self.choices or "[]") or ()

    def meant(self, words: str) -> str:
        """Return the choice that the words name, by itself or by its number, or else the words."""
        said = " ".join(words.split())
        alike = [option for option in self.options if _plain(option) == _plain(said)]
        if alike:
            return said if said in alike else alike[0]
        number = said.strip("#.) ")
        if number.isascii() and number.isdecimal() and len(number) == 1 and 0 < int(number) <= len(self.options):
            return self.options[int(number) - 1]
        return words.strip()

    def pressed(self, words: str) -> str:
        """Return the choice with this number, as a button names it, or the words.

        The number counts even if the words of another choice are that number.
        """
        if words.isascii() and words.isdecimal() and len(words) == 1 and 0 < int(words) <= len(self.options):
            return self.options[int(words) - 1]
        return words

    @property
    def key(self) -> str:
        """The key of its message in the outbox."""
        return f"{self.run}:ask:{self.id}"

    def at(self, now: float) -> "Question":
        """Return the question as of `now`: it expires if it is not answered, or the approval is not used, in time."""
        late = now >= self.expires_at and self.state in (QuestionState.PENDING, QuestionState.APPROVED)
        return replace(self, state=QuestionState.EXPIRED) if late else self

    def answered(self, by: str, now: float, *, approved: bool, words: str = "") -> "Question":
        current = self.at(now)
        if current.state is not QuestionState.PENDING:
            return current
        state = QuestionState.APPROVED if approved else QuestionState.DENIED
        return replace(current, state=state, answered_by=by, answered_at=now, answer=words)

    def used(self, fingerprint: str, now: float) -> "Question":
        """Use the approval for a call that begins now; if the call has changed since, withdraw the question."""
        current = self.at(now)
        if current.fingerprint != fingerprint and current.state in (QuestionState.PENDING, QuestionState.APPROVED):
            return replace(current, state=QuestionState.WITHDRAWN)
        return replace(current, state=QuestionState.USED) if current.state is QuestionState.APPROVED else current

    def withdrawn(self) -> "Question":
        """Withdraw a question that has no answer yet."""
        return replace(self, state=QuestionState.WITHDRAWN) if self.state is QuestionState.PENDING else self


def _plain(words: str) -> str:
    return " ".join(words.split()).rstrip(".!。！").casefold()
