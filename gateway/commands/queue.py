"""The command /queue: shows the messages and runs that wait here, and drops messages."""

import math
import re
from collections.abc import Iterable, Sequence

from agent_core.messages import UserMessage, text_of
from channels.base import Button, OutboundMessage
from channels.commands import Suggestion
from channels.text import literal
from gateway.chat.replies import Answer, Rewritten
from gateway.chat.run_pace import first_words, quoted
from gateway.commands.command import LONGEST_ID, Command, Invocation, Unfinished, reply
from gateway.commands.suggested import suggested
from gateway.commands.waits import reasons, waiting_for
from gateway.permissions.rights import TALK, always
from gateway.store.rows import InboxItem, Run
from gateway.store.transcript import Transcript
from gateway.texts.say import Language, say

MOST_LISTED = 10
IN_ROW = 5
"""Buttons in a row."""
ALL = "all"
_NUMBER = re.compile(r"[0-9]{1,18}")


class QueueCommands:
    """The command /queue."""

    def __init__(self, transcript: Transcript) -> None:
        self._transcript = transcript

    async def queue(self, given: Invocation) -> Answer:
        """List what waits, or drop one message or all. Admins and owners see everybody's, others their own."""
        words, shown = _parted(given.arguments)
        wanted = words[-1].strip("`#") if words else ""
        is_number = wanted.isascii() and wanted.isdigit()
        waiting = waiting_for(given)
        if not words:
            found = _listed(given, waiting)
            told = [*([found.markdown] if found else []), *await self._paused(given)]
            text = "\n\n".join(told) or say("queue_empty", given.language)
            return OutboundMessage(markdown=text, buttons=found.buttons if found else ())
        if words not in (["drop", words[-1]], [ALL]) or not (is_number or wanted == ALL):
            return reply(say("queue_usage", given.language, slash=given.slash))
        dropped = [item for item in waiting if wanted in (ALL, str(item.seq)) and (shown is None or item.seq <= shown)]
        if dropped:
            return _drop(given, dropped)
        if wanted == ALL:
            return reply(say("queue_empty", given.language))
        return reply(say("queue_gone", given.language, number=wanted[:LONGEST_ID], slash=given.slash))

    async def _paused(self, given: Invocation) -> list[str]:
        """Tell of the runs that wait for room in a budget: admins and owners of all, others of their own."""
        runs = [run for run in given.session.open_runs.paused if given.is_admin or run.person == given.sender.id]
        lines = [f"- {literal(await self._asked(run))}" for run in runs]
        return ["\n".join([say("queue_paused", given.language, slash=given.slash), "", *lines])] if lines else []

    async def _asked(self, run: Run) -> str:
        said = await self._transcript.said_in(run)
        asked = next((each for each in said if isinstance(each, UserMessage)), None)
        return first_words(f"{asked.source or run.person}: {text_of(asked.content)}") if asked else run.person

    @property
    def commands(self) -> tuple[Command, ...]:
        return (
            Command(
                "queue",
                {"en": "Show and drop what waits", "zh": "查看或取消等待中的消息"},
                self.queue,
                rights=always(TALK),
                suggest=_waiting,
                arguments="[drop N|all]",
                example="drop 17",
            ),
        )


def _parted(arguments: str) -> tuple[list[str], int | None]:
    """Return the words of a command, and the number of the newest message that a button below a list drops."""
    words = arguments.lower().split()
    match words:
        case ["drop", word, number] if word == ALL and _NUMBER.fullmatch(number):
            return words[:2], int(number)
    return words, None


def _drop(given: Invocation, dropped: Sequence[InboxItem]) -> Rewritten:
    """Take the messages out of the queue. They are settled together with the command, so a restart repeats nothing."""
    given.session.mail.take(dropped)
    key = "queue_dropped_one" if len(dropped) == 1 else "queue_dropped"
    told = "\n".join([say(key, given.language, count=len(dropped)), "", *_lines(given, dropped)])
    rest = _listed(given, waiting_for(given))
    left = OutboundMessage(markdown=f"{told}\n\n{rest.markdown}", buttons=rest.buttons) if rest else reply(told)
    return Rewritten(left, settles=tuple(item.seq for item in dropped))


def _listed(given: Invocation, waiting: Sequence[InboxItem]) -> OutboundMessage | None:
    """Return the list with its buttons; None if nothing waits."""
    if not waiting:
        return None
    language = given.language
    drops = [_button(item, language) for item in waiting[:MOST_LISTED]]
    rows = [tuple(drops[at : at + IN_ROW]) for at in range(0, len(drops), IN_ROW)]
    if len(waiting) > 1:
        newest = max(item.seq for item in waiting)
        action = f"/queue drop {ALL} {newest}"
        rows.append((Button(label=say("queue_drop_all", language), action=action, style="danger"),))
    hint = say("queue_hint", language, slash=given.slash)
    why = reasons(given, waiting)
    told = [say("queue_why", language, why=" ".join(why)), ""] if why else []
    lines = [say("queue_waiting", language), "", *_lines(given, waiting), "", *told, hint]
    return OutboundMessage(markdown="\n".join(lines), buttons=tuple(rows))


def _lines(given: Invocation, items: Sequence[InboxItem]) -> list[str]:
    lines = []
    for item in items[:MOST_LISTED]:
        sender = item.event.sender
        who = "" if sender.id == given.sender.id else literal(f"{sender.name or sender.id}: ")
        lines.append(f"- `{item.seq}` {who}{literal(quoted(item.event))}")
    if len(items) > MOST_LISTED:
        lines.append(say("queue_more", given.language, count=len(items) - MOST_LISTED))
    return lines


def _button(item: InboxItem, language: Language) -> Button:
    return Button(label=say("queue_drop", language, number=item.seq), action=f"/queue drop {item.seq}")


async def _waiting(typing: Unfinished) -> Iterable[Suggestion]:
    """Return the numbers of the waiting messages that the person may drop."""
    if typing.before.strip().lower() != "drop":
        return []
    found = typing.session.mail.waiting(math.inf)
    mine = (each for each in found if typing.is_admin or each.event.sender.id == typing.sender.id)
    return [suggested(str(each.seq), quoted(each.event)) for each in mine]
