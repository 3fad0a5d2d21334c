"""The command /undo, which reverts changes made by tool calls."""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice

from agent_core.file_handles import raise_lack
from agent_core.tools.files.confined import shown
from agent_core.tools.memory import Memory, told_line
from agent_core.versions.group import Change, Group
from agent_core.versions.undo import Undone, carried_out, is_undoable, newest, undo
from agent_core.versions.versions import ChatVersions
from agent_core.workspace.keeper import CannotKeep
from channels.base import Button, OutboundMessage
from channels.commands import Suggestion
from channels.text import literal
from gateway.chat.replies import Answer, Rewritten
from gateway.commands.command import MOST_SUGGESTED, Command, Invocation, Unfinished, reply
from gateway.permissions.question_text import one_line
from gateway.permissions.rights import Right, always
from gateway.permissions.roles import Role
from gateway.plugin import Core
from gateway.texts.moments import moment_words
from gateway.texts.say import Language, say

MOST_LISTED = 10
MOST_BUTTONS = 5
MOST_NAMED = 5
MOST_IN_LINE = 3
MOST_CHARS = 60
"""Characters of the files that are shown while a number is typed."""
ANYWAY = "anyway"


class UndoCommand:
    """The command /undo."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._versions = core.workspaces.versions

    async def undo_(self, given: Invocation) -> Answer:
        verb, _, rest = given.arguments.strip().lower().partition(" ")
        versions = self._versions.of(given.chat)
        if verb == "list":
            return await _list(given, versions)
        if versions.is_busy:
            return reply(say("undo_busy", given.language, slash=given.slash))
        found = await asyncio.to_thread(_wanted, given, versions, verb)
        if isinstance(found, OutboundMessage):
            return found
        word, _, mark = rest.strip().partition(" ")
        answer = await self._undone(given, versions, found, anyway=mark.strip() if word == ANYWAY else "")
        return Rewritten(answer) if given.pressed else answer

    async def _undone(
        self, given: Invocation, versions: ChatVersions, found: Group | Undone, *, anyway: str
    ) -> OutboundMessage:
        group = found if isinstance(found, Group) else found.group

        def work() -> Undone:
            done = found
            if isinstance(done, Group):
                done = undo(versions, group, given.sender.id, anyway=anyway, call=given.asked)
            if done.by is not None and group.memory:
                self._memory(group.memory).swap(group.added, group.removed)
            return done

        language = given.language
        try:
            done = await asyncio.to_thread(work)
        except (CannotKeep, OSError) as error:
            raise_lack(error)
            return reply(say("undo_cannot", language, why=str(error)))
        if done.by is None:
            action = f"/undo {group.number} {ANYWAY} {done.mark}"
            button = Button(label=say("undo_anyway_button", language), action=action, style="danger")
            text = say("undo_since", language, files=_named(done.changed_since, MOST_NAMED))
            return OutboundMessage(markdown=text, buttons=((button,),))
        lines = list(_lines(group, done, language))
        text = "\n".join([say("undo_done", language), *_few(lines, language)])
        if done.failed:
            text += "\n\n" + say("undo_failed", language, files=_named(done.failed, MOST_NAMED))
        button = Button(label=say("undo_back_button", language), action=f"/undo {done.by.number}")
        return OutboundMessage(markdown=text, buttons=((button,),))

    def _memory(self, name: str) -> Memory:
        """Return the facts in a folder of memories."""
        return Memory(self._core.home / "memory" / name, self._core.clock, self._core.settings.zone)

    async def _changes(self, typing: Unfinished) -> Iterable[Suggestion]:
        """Return the changes that can be undone, newest first."""

        def read() -> list[Group]:
            groups = filter(is_undoable, self._versions.of(typing.chat).groups.newest_first())
            mine = (each for each in groups if typing.is_owner or each.person == typing.sender.id)
            return list(islice(mine, MOST_SUGGESTED))

        found = await asyncio.to_thread(read)
        return [_suggested(each) for each in found]

    @property
    def command(self) -> Command:
        return Command(
            "undo",
            {"en": "Undo changes to files and memory", "zh": "撤销对文件和记忆的更改"},
            self.undo_,
            rights=always(Right("write")),
            arguments="[list|ID]",
            example="list",
            main=True,
            after="memory",
            offered_to=Role.MEMBER,
            suggest=self._changes,
        )


def _suggested(group: Group) -> Suggestion:
    paths = one_line(", ".join(change.path for change in group.changes), MOST_CHARS)
    return Suggestion(value=str(group.number), label=f"{group.number} {paths}".strip())


def _wanted(given: Invocation, versions: ChatVersions, verb: str) -> Group | Undone | OutboundMessage:
    """Return the change to undo, or a reply that says why there is none.

    A command that is given again after a crash gets what it did before, not the next change.
    """
    if before := carried_out(versions, given.asked):
        return before
    if not verb:
        group = newest(versions, given.sender.id)
        return group or reply(say("undo_nothing", given.language, slash=given.slash))
    number = verb.strip("`#")
    group = versions.groups.read(int(number)) if number.isdecimal() and len(number) < 10 else None  # noqa: PLR2004
    if group is None or group.is_open or not _is_theirs(given, group):
        return reply(say("undo_unknown", given.language, id=literal(verb[:20]), slash=given.slash))
    if group.undone_by is not None:
        return reply(say("undo_already", given.language, id=group.number, by=group.undone_by, slash=given.slash))
    return group


def _is_theirs(given: Invocation, group: Group) -> bool:
    return group.person == given.sender.id or given.is_owner


def _lines(group: Group, done: Undone, language: Language) -> Iterator[str]:
    for change in group.changes:
        if change.path not in done.failed:
            key = "undo_back" if change.after is None else "undo_changed" if change.before else "undo_gone"
            yield say(key, language, path=_path(change.path))
    for line in group.removed:
        yield say("undo_known", language, fact=literal(told_line(line)))
    for line in group.added:
        yield say("undo_forgotten", language, fact=literal(told_line(line)))


def _few(lines: Sequence[str], language: Language) -> list[str]:
    left = len(lines) - MOST_NAMED
    return [*lines[:MOST_NAMED], *([say("undo_more", language, count=left)] if left > 0 else [])]


async def _list(given: Invocation, versions: ChatVersions) -> OutboundMessage:
    found = await asyncio.to_thread(_newest, given, versions)
    if not found:
        return reply(say("undo_none", given.language))
    zone = given.session.conversation.zone()
    rows = [say("undo_list", given.language), ""]
    for group in found:
        when = moment_words(group.at, zone)
        key = "undo_line" if group.undone_by is None else "undo_line_undone"
        rows.append(say(key, given.language, id=group.number, when=when, what=_what(group, given.language)))
    buttons = tuple(
        (Button(label=say("undo_button", given.language, id=group.number), action=f"/undo {group.number}"),)
        for group in islice(filter(is_undoable, found), MOST_BUTTONS)
    )
    return OutboundMessage(markdown="\n".join(rows), buttons=buttons)


def _newest(given: Invocation, versions: ChatVersions) -> list[Group]:
    theirs = (each for each in versions.groups.newest_first() if _is_theirs(given, each) and not each.is_open)
    return list(islice(theirs, MOST_LISTED))


def _what(group: Group, language: Language) -> str:
    kinds: tuple[tuple[str, Callable[[Change], bool]], ...] = (
        ("undo_made", lambda change: change.before is None),
        ("undo_altered", lambda change: bool(change.before and change.after)),
        ("undo_deleted", lambda change: change.after is None),
    )
    parts = [
        say(key, language, paths=_named(paths, MOST_IN_LINE))
        for key, fits in kinds
        if (paths := [change.path for change in group.changes if fits(change)])
    ]
    for key, lines in (("undo_forgot", group.removed), ("undo_remembered", group.added)):
        if lines:
            parts.append(say(key, language, facts=literal("; ".join(map(told_line, lines[:MOST_IN_LINE])))))
    what = "; ".join(parts)
    return what if group.undoes is None else say("undo_of", language, id=group.undoes, what=what)


def _named(paths: Sequence[str], most: int) -> str:
    more = f" +{len(paths) - most}" if len(paths) > most else ""
    return ", ".join(map(_path, paths[:most])) + more


def _path(path: str) -> str:
    return literal(shown(path))
