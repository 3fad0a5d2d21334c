"""The words about a rule of a group: for which level it is set, and which level's rule holds."""

from collections.abc import Mapping

from msgspec import Struct

from channels.base import Button, OutboundMessage
from gateway.commands.command import Invocation
from gateway.commands.levels import level_words
from gateway.permissions.groups import Groups
from gateway.permissions.rights import OTHERWISE, Right, Rights
from gateway.permissions.roles import Role
from gateway.store.chat_settings import Level, Place
from gateway.texts.say import say

OF_GROUPS = Rights(
    {
        "": Right("read", direct=None, away=Role.ADMIN),
        OTHERWISE: Right("admin", direct=None, group=Role.ADMIN, away=Role.ADMIN, refusal="groups_not_yours"),
    }
)
"""Everybody who may speak in a group may look at its rules."""


class Told(Struct, frozen=True):
    """The words around the description of a rule."""

    where: str
    """Where it holds, at the start of the description."""
    before: str
    after: str

    def around(self, text: str) -> str:
        return "\n\n".join(filter(None, (self.before, text, self.after)))


def told(groups: Groups, given: Invocation, name: str, changed: Place | None = None) -> Told:
    """Return what to tell of a rule in a chat; `changed` is the place for which it was just set."""
    language, holds = given.language, groups.place(given.chat, name)
    is_of_thread = holds is not None and holds.level is Level.THREAD
    where = say("in_this_very_thread" if is_of_thread else "in_this_group", language)
    before = ""
    if changed is not None and holds != changed:
        is_hidden = holds is not None and _is_nearer(holds, changed)
        key = "rule_hidden" if is_hidden else "rule_removed"
        before = say(key, language, level=level_words(changed, language))
    after = say("rule_default", language)
    if holds is not None:
        after = say("rule_from", language, level=level_words(holds, language))
    if given.is_admin and changed is None:
        after = f"{after} {say('rule_levels', language)}"
    return Told(where, before, after)


def _is_nearer(one: Place, other: Place) -> bool:
    levels = list(Level)
    return levels.index(one.level) < levels.index(other.level)


def with_buttons(given: Invocation, text: str, command: str, labels: Mapping[str, str]) -> OutboundMessage:
    """Return a text with a button for each word of a command, which only owners and admins get."""
    choices = tuple((Button(label=label, action=f"/{command} {word}"),) for word, label in labels.items())
    return OutboundMessage(markdown=text, buttons=choices if given.is_admin else ())
