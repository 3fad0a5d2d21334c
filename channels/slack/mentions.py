"""The marks in Slack's texts, and the names that stand for them."""

import re
from collections.abc import Callable
from typing import NamedTuple

from channels.base import (
    Sender,
)
from channels.values import Standing

TOKEN = re.compile(r"<([@#!]?)([^<>|\n]*)(?:\|([^<>\n]*))?>")
_PING = re.compile(r"<(?:!(?:subteam\^\w+|[a-z]+)|@\w+)(?:\|([^<>\n]*))?>")
_OPENING = re.compile(r"<(?=[!@])")
_ESCAPED = (("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&"))


class Identity(NamedTuple):
    """The bot's identity in a workspace."""

    team: str
    user: str
    """User id of the bot, as used in mentions."""
    bot: str
    has_agent_view: bool = False
    """True if each message in a direct chat begins a conversation of its own, which goes on in its thread."""


class Person(NamedTuple):
    name: str
    language: str | None = None
    teams: frozenset[str] = frozenset()
    """Workspaces of which the user is a full member."""
    zone: str | None = None
    """Time zone of their profile."""


Names = Callable[[str], Person | None]
"""Returns what is known of a user id so far."""


def standing(known: Person | None, me: Identity) -> Standing | None:
    """Return the user's place in this workspace, or None if nothing is known of the user yet."""
    return Standing(is_full_member=me.team in known.teams) if known else None


class Mentions:
    """Names for a text, which remembers those whom it was asked for."""

    def __init__(self, me: Identity, names: Names) -> None:
        self._me = me
        self._names = names
        self._asked: dict[str, None] = {}

    def __call__(self, user: str) -> Person | None:
        self._asked[user] = None
        return self._names(user)

    def named(self, text: str) -> tuple[Sender, ...]:
        """Return those whose names stand in the text for mentions, and the labels of its other marks."""
        labels = {found[2]: found[3] for found in TOKEN.finditer(text) if found[1] and found[3]}
        people = [self._person(user, labels.pop(user, user)) for user in self._asked if user != self._me.user]
        return (*people, *(Sender(id="", name=label) for label in labels.values()))

    def _person(self, user: str, label: str) -> Sender:
        known = self._names(user)
        return Sender(id=user, name=known.name if known else label, standing=standing(known, self._me))


def readable(text: str, names: Names) -> str:
    """Convert Slack's markup to readable text: names for ids, plain links, unescaped `&`, `<` and `>`."""
    if "<" in text:
        text = TOKEN.sub(lambda found: _token(found, names), text)
    if "&" in text:
        for escaped, char in _ESCAPED:
            text = text.replace(escaped, char)
    return text


def _token(found: re.Match[str], names: Names) -> str:
    kind, target, label = found[1], found[2], found[3] or ""
    if kind == "@":
        known = names(target)
        return f"@{known.name if known else label or target}"
    if kind == "#":
        return f"#{label or target}"
    if kind == "!":
        return label or f"@{target.removeprefix('subteam^').partition('^')[0]}"
    return link(label, target)


def link(label: str, target: str) -> str:
    address = target.removeprefix("mailto:")
    return address if not label or label in address else f"{label} ({address})"


def without_mentions(markdown: str) -> str:
    """Defuse broadcasts and mentions such as `<!channel>`, so that a model's text notifies no one."""
    if "<" not in markdown:
        return markdown
    named = _PING.sub(_named, markdown)
    # A name may complete the mark around it: `<!channel|a<@U7>b>`.
    return _OPENING.sub("‹", named) if _PING.search(named) else named


def _named(found: re.Match[str]) -> str:
    name = found[1] or found[0][2:-1]
    return name if name.startswith("@") else f"@{name}"
