"""Tells the model, with the next message, about undos that it has not heard of."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from agent_core.origin import Origin
from agent_core.tools.files.confined import shown
from agent_core.untrusted import harmless
from agent_core.versions.group import Change, Entry, Group, Groups
from agent_core.versions.versions import ChatVersions
from agent_core.workspace.provenance import FileSources
from gateway.chat.prompt_notes import PromptHistory, PromptNote

MOST_NAMED = 10
MOST_NEW = 50
"""Most changes examined after a start."""
NAMED_BY_US = frozenset({"heartbeat"})
"""Commands whose files have names of Parley's."""
_TOLD = re.compile(r"\A[^\n]*\nUndone by a person \(undo (\d+)\)")


class UndoNews:
    """Undos in one chat that the model has not been told of."""

    def __init__(self, versions: ChatVersions) -> None:
        """`versions` are those of the chat: all changes are made by way of this one object."""
        self.versions = versions
        self.writes = -1
        """How often it had written a group when `next` was called last: if no more often now, there is no news."""
        self._seen: int | None = None
        """Number of the newest change examined."""

    def next(self, groups: Groups, files: FileSources, history: PromptHistory) -> PromptNote | None:
        """Return the undos that the next message reports: none if the conversation is still empty. Blocks."""
        self.writes = groups.writes
        numbers = groups.numbers()
        seen, self._seen = self._seen, max(numbers, default=0)
        if history.is_empty:
            return None
        new = numbers[-MOST_NEW:] if seen is None else [number for number in numbers if number > seen]
        found = [group for number in new if (group := groups.read(number)) and group.undoes is not None]
        if seen is None:  # first message since the process start
            told, began = _last_told(history), history.began
            found = [group for group in found if group.number > told and group.at > began]
        named = {change.path for group in found if not _is_named_by_us(group, groups) for change in group.changes}
        return _undos(found, lambda paths: files.of_named(named.intersection(paths)))


def _is_named_by_us(group: Group, groups: Groups) -> bool:
    """Return True if Parley named the files, and neither a program nor a model."""
    first: Group | None = group
    while first is not None and first.undoes is not None:
        first = groups.read(first.undoes)
    return first is not None and first.tool in NAMED_BY_US


def _last_told(history: PromptHistory) -> int:
    """Return the number of the newest undo that a message in the history reports."""
    return next((int(match[1]) for notes in history.notes() if (match := _TOLD.match(notes))), 0)


def _undos(groups: Sequence[Group], origin_of: Callable[[Iterable[str]], Origin]) -> PromptNote | None:
    """Return the news. `origin_of` returns the origin of the names of some files."""
    changes = list(_in_all(groups))
    told = changes[:MOST_NAMED]
    parts = [_words(each) for each in told]
    if len(changes) > MOST_NAMED:
        parts.append(f"{len(changes) - MOST_NAMED} more files changed")
    if known := sum(len(group.added) for group in groups):
        parts.append(f"facts put back into your memory: {known}")
    if forgotten := sum(len(group.removed) for group in groups):
        parts.append(f"facts taken out of your memory: {forgotten}")
    if not parts:
        return None
    line = f"Undone by a person (undo {groups[-1].number}): {'; '.join(parts)}."
    return PromptNote(line, origin_of(change.path for change in told))


def _in_all(groups: Sequence[Group]) -> Iterator[Change]:
    """Return the net change of each path over all groups."""
    made: dict[str, Change] = {}
    for change in (change for group in groups for change in group.changes):
        first = made.get(change.path, change)
        made[change.path] = Change(change.path, first.before, change.after)
    return (change for change in made.values() if not _are_equal(change.before, change.after))


def _are_equal(before: Entry | None, after: Entry | None) -> bool:
    if before is None or after is None:
        return before is after
    return (before.kind, before.digest, before.target) == (after.kind, after.digest, after.target)


def _words(change: Change) -> str:
    name = harmless(shown(change.path))
    if change.after is None:
        return f"{name} is gone again"
    return f"{name} is back" if change.before is None else f"{name} is as it was before"
