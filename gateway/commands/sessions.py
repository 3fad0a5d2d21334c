"""Commands about a chat's conversations: /sessions, /resume, /rename."""

from collections.abc import Iterable

from agent_core.clock import Clock
from channels.base import Button, OutboundMessage
from channels.commands import Suggestion
from channels.text import literal
from gateway.chat.replies import Answer
from gateway.commands.choice import choice, entry
from gateway.commands.command import LONGEST_ID, MOST_SUGGESTED, Command, Invocation, Unfinished, reply
from gateway.commands.suggested import suggested
from gateway.permissions.rights import LOOK, TALK, Right, always
from gateway.permissions.roles import Role
from gateway.schedule.times.words import slot_words
from gateway.store.sessions import Session, Sessions
from gateway.texts.say import Language, say

PAGE = 5
"""Conversations in a reply."""
ID = 6
"""Characters of a conversation's id that people see."""
LABEL = 30
"""Characters of a title on a button."""
LAST_PAGE = 10_000
LONGEST_NUMBER = 9
"""Digits of a typed page that are read."""
HALF_A_CENT = 0.005
"""Dollars; lower costs are not shown."""


class SessionCommands:
    """Commands that list, resume and rename conversations."""

    def __init__(self, sessions: Sessions, clock: Clock) -> None:
        self._sessions = sessions
        self._clock = clock

    async def list(self, given: Invocation) -> OutboundMessage:
        """List the chat's conversations; the argument is the number of the page, from 1."""
        language, wanted = given.language, given.arguments.strip()
        page = min(int(wanted[:LONGEST_NUMBER]), LAST_PAGE) if wanted.isascii() and wanted.isdigit() else 1
        page = max(page, 1)
        rows = await self._sessions.of(given.chat, PAGE + 1, PAGE * (page - 1), given.only_of)
        current = (await given.session.conversation.settings()).session
        if not rows:
            return reply(say("sessions_none" if page == 1 else "sessions_no_more", language))
        zone, now = given.session.conversation.zone(), self._clock.time()
        lines = [
            f"- `{row.id[:ID]}` **{literal(_title(row, language))}** – {slot_words(row.last, zone, language, now)}, "
            + ", ".join(_facts(row, language, is_current=row.id == current))
            for row in rows[:PAGE]
        ]
        hint = say("sessions_hint", language, slash=given.slash)
        choices = tuple(
            (Button(label=_title(row, language)[:LABEL], action=f"/resume {row.id[:ID]}"),)
            for row in rows[:PAGE]
            if row.id != current
        )
        older = ((Button(label=say("sessions_older", language), action=f"/sessions {page + 1}"),),)
        buttons = choices + older if len(rows) > PAGE else choices
        entries = [each for (button,) in buttons for each in entry(button.label, button.action)]
        return OutboundMessage(
            markdown="\n".join([say("sessions", language), "", *lines, "", hint]),
            buttons=buttons,
            choice=choice(say("sessions_choose", language), entries, len(buttons)),
        )

    async def resume(self, given: Invocation) -> Answer:
        """Continue an earlier conversation. The button of the reply goes back to the one before."""
        language, wanted = given.language, given.arguments.strip().strip("`").lower()
        if not wanted:
            return await self.list(given)
        session = await self._sessions.find(given.chat, wanted, given.only_of)
        if session is None:
            unknown = say("resume_unknown", language, id=literal(wanted[:LONGEST_ID]), slash=given.slash)
            return reply(unknown)
        before = (await given.session.conversation.settings()).session
        if session == before:
            return reply(say("resume_current", language))
        try:
            await given.session.stops.resume(given.sender, session)
        except PermissionError:
            return reply(say("not_yours", language))
        title = await self._sessions.title(session) or say("sessions_untitled", language)
        back = Button(label=say("resumed_back", language), action=f"/resume {before[:ID]}")
        has_before = await self._sessions.find(given.chat, before[:ID], given.only_of) is not None
        return OutboundMessage(
            markdown=say("resumed", language, title=literal(title)), buttons=((back,),) if has_before else ()
        )

    async def rename(self, given: Invocation) -> OutboundMessage:
        """Name the current conversation."""
        title = " ".join(given.arguments.split())
        session = (await given.session.conversation.settings()).session
        await self._sessions.rename(given.chat, session, title)
        shown = await self._sessions.title(session)
        return reply(say("renamed", given.language, title=literal(shown)))

    async def _conversations(self, typing: Unfinished) -> Iterable[Suggestion]:
        person = typing.sender.id if typing.is_guest_in_group else None
        rows = await self._sessions.of(typing.chat, MOST_SUGGESTED, 0, person)
        return [suggested(row.id[:ID], row.title) for row in rows]

    @property
    def commands(self) -> tuple[Command, ...]:
        return (
            Command(
                "sessions",
                {"en": "List the conversations here", "zh": "列出这里的对话"},
                self.list,
                rights=always(LOOK),
            ),
            Command(
                "resume",
                {"en": "Go back to a conversation", "zh": "回到之前的对话"},
                self.resume,
                rights=always(TALK),
                suggest=self._conversations,
                arguments="[ID]",
                example="3f9a1c",
            ),
            Command(
                "rename",
                {"en": "Name this conversation", "zh": "为当前对话命名"},
                self.rename,
                rights=always(Right("write")),
                arguments="TITLE",
                example={"en": "Garden plans", "zh": "花园计划"},
                offered_to=Role.MEMBER,
            ),
        )


def _title(session: Session, language: Language) -> str:
    return session.title or say("sessions_untitled", language)


def _facts(session: Session, language: Language, *, is_current: bool) -> list[str]:
    key = {0: "sessions_unbegun", 1: "sessions_runs_one"}.get(session.runs, "sessions_runs")
    runs = say(key, language, count=session.runs)
    cost = [f"${session.cost_usd:.2f}"] if session.cost_usd >= HALF_A_CENT else []
    return [runs, *cost, *([say("sessions_current", language)] if is_current else [])]
