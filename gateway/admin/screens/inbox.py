"""The screen of everything that waits for an answer: approvals, questions of the model, and strangers."""

import hashlib
from collections.abc import Iterable, Mapping

from msgspec import Struct

from agent_core.clock import Clock
from gateway.admin.insight import Insight
from gateway.admin.names import isolated
from gateway.admin.screen import Group, View, Visit
from gateway.permissions.approvals import Approvals
from gateway.permissions.question_text import SKILL_SCRIPT
from gateway.permissions.sources import reasons
from gateway.store.question import Grounds, Question, QuestionState
from gateway.store.store import Store
from gateway.store.strangers import Stranger
from gateway.upkeep.stranger_notices import VERDICTS
from gateway.upkeep.strangers import Strangers


class _Asked(Struct, frozen=True):
    """An approval, or a question of the model."""

    question: Question
    chat: str
    """Name of the chat."""
    person: str
    """Name of the person for whom the run works."""
    why: tuple[str, ...]
    setting: str
    always: str
    """Key of the text that says what an answer for good would cover; empty if there is none."""
    may_answer: bool
    may_read: bool

    @property
    def key(self) -> str:
        return self.question.id


class _Waiting(Struct, frozen=True):
    """A stranger who wrote in a private chat."""

    stranger: Stranger
    name: str

    @property
    def key(self) -> str:
        return f"{self.stranger.id}-{_digest([self.stranger.words])}"


class InboxScreen:
    """Shows what waits for an answer in all chats."""

    name = "inbox"
    group = Group.TALK
    icon = "inbox"

    def __init__(
        self, store: Store, approvals: Approvals, strangers: Strangers, insight: Insight, clock: Clock
    ) -> None:
        self._store = store
        self._approvals = approvals
        self._strangers = strangers
        self._insight = insight
        self._clock = clock

    async def view(self, visit: Visit) -> View:
        """Return all open questions, oldest first, and the strangers who wait."""
        asked, waiting = await self._asked(visit), await self._waiting()
        facts = {"asked": asked, "strangers": waiting, "verdicts": VERDICTS, "version": _version(asked, waiting)}
        return View("inbox.html", facts)

    async def waiting(self) -> int:
        """Return the number of open questions and waiting strangers."""
        return len(await self._open()) + len(await self._waiting())

    async def news(self, visit: Visit) -> Mapping[str, object]:
        """Return the number of things that wait, a name of their present state, and those that the visitor may answer.

        Their words are left out: notifications are shown on locked screens.
        """
        asked, waiting = await self._asked(visit), await self._waiting()
        items = [
            _item(visit, each.key, "question" if each.question.is_of_model else "approval", each.chat)
            | {"is_elsewhere": each.question.chat.without_thread != visit.chat}
            for each in asked
            if each.may_answer
        ]
        items += [_item(visit, each.key, "stranger", isolated(each.name)) | {"is_elsewhere": True} for each in waiting]
        return {"count": len(asked) + len(waiting), "version": _version(asked, waiting), "items": items}

    async def _open(self) -> list[Question]:
        now = self._clock.time()
        found = await self._store.approvals.pending()
        return [each for each in found if each.at(now).state is QuestionState.PENDING]

    async def _asked(self, visit: Visit) -> list[_Asked]:
        found = await self._open()
        names = self._insight.names(visit, await self._store.conversations.titles(each.chat for each in found))
        return [self._shown(each, visit, names.of(each.chat)) for each in found]

    def _shown(self, question: Question, visit: Visit, chat: str) -> _Asked:
        may_answer = self._approvals.may_answer(question, self._insight.sender_in(visit, question.chat))
        may_read = self._insight.may_read(visit, question.chat, question.person)
        is_script = question.tool == SKILL_SCRIPT
        return _Asked(
            question,
            chat=chat,
            person=self._insight.person(question.chat, question.person),
            why=tuple(reasons(question, visit.language)),
            setting=Grounds.parse(question.grounds).setting,
            always=("always_script" if is_script else "always_command") if question.subject else "",
            may_answer=may_answer,
            may_read=may_read or (may_answer and not question.is_of_model),
        )

    async def _waiting(self) -> list[_Waiting]:
        return [_Waiting(each, each.event.sender.name) for each in await self._strangers.waiting()]


def _item(visit: Visit, key: str, kind: str, where: str) -> dict[str, object]:
    return {"id": key, "kind": kind, "where": where, "title": visit.say(f"inbox_{kind}")}


def _version(asked: Iterable[_Asked], waiting: Iterable[_Waiting]) -> str:
    return _digest([*(each.key for each in asked), *(each.key for each in waiting)])


def _digest(words: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(words).encode()).hexdigest()[:16]
