"""The screen of groups: which messages are taken in each, who may speak, what tools may do, and the budget."""

from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from channels.base import ChatKey
from gateway.admin.insight import Insight
from gateway.admin.screen import Group, View, Visit
from gateway.permissions.groups import ACTIVATION, SPEAKERS, Activation, Audience
from gateway.plugin import Core
from gateway.settings.permissions import NAMES, WORDS
from gateway.store.budget import chat_account
from gateway.texts.amounts import allowance_words, amount_words

MOST_LISTED = 200
TEMPLATE = Path(__file__).with_name("groups.html")


class Row(Struct, frozen=True):
    """A group or channel with its rules."""

    chat: str
    name: str
    """As last seen; the key where none was."""
    activation: Activation
    is_own_activation: bool
    """True if the activation was set, at any level."""
    audience: Audience
    rights: str
    is_own_audience: bool
    tools: Mapping[str, str]
    """Limits by class."""
    budgets: list[tuple[str, str]]
    """Allowance, and what is used of it."""


class GroupsScreen:
    """Shows all groups, and changes their rules by the commands that are given in them."""

    name = "groups"
    after = "people"
    group = Group.PEOPLE
    icon = "hash"

    def __init__(self, core: Core) -> None:
        self._groups = core.group_rules.groups
        self._insight = Insight(core.access, core.roles)
        self._store = core.store
        self._delivery = core.delivery
        self._budgets = core.budgets

    async def view(self, visit: Visit) -> View:
        """Return the groups of the connected platforms."""
        known = {chat.without_thread for chat in await self._store.chats.known()}
        await self._budgets.refresh()
        names = self._insight.names(visit)
        chats = sorted((names.of(each), str(each), each) for each in known if self._is_group(each))
        facts = {
            "groups": [self._row(visit, each, name) for name, _, each in chats[:MOST_LISTED]],
            "activations": list(Activation),
            "audiences": [each for each in Audience if each is not Audience.ROLE],
            "classes": list(NAMES),
            "words": list(WORDS),
        }
        return View(TEMPLATE, facts)

    def _is_group(self, chat: ChatKey) -> bool:
        return self._delivery.knows(chat) and self._delivery.channel(chat).is_group(chat)

    def _row(self, visit: Visit, chat: ChatKey, name: str) -> Row:
        speakers, language = self._groups.speakers(chat), visit.language
        budgets = [
            (
                allowance_words(each.allowance, language),
                amount_words(self._budgets.used(each), each.allowance.unit, language),
            )
            for each in self._budgets.of(chat_account(chat))
        ]
        return Row(
            chat=str(chat),
            name=name,
            activation=self._groups.activation(chat),
            is_own_activation=self._groups.place(chat, ACTIVATION) is not None,
            audience=speakers.audience,
            rights=str(speakers.rights),
            is_own_audience=self._groups.place(chat, SPEAKERS) is not None,
            tools={str(of): str(word) for of, word in self._groups.limits(chat).items()},
            budgets=budgets,
        )
