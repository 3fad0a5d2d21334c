"""The screen of models: which there are, what they cost, where they are chosen, and whether they answer."""

from collections.abc import Mapping
from math import ceil

from msgspec import Struct

from agent_core.models.llm import ModelInfo
from channels.base import ChatKey
from gateway.admin.insight import Insight
from gateway.admin.screen import Group, View, Visit
from gateway.commands.models import price_words
from gateway.delivery.delivery import Delivery
from gateway.runs.chat_models import LEVELS, MODEL, THINKING, ChatModels
from gateway.store.chat_settings import Level, places
from gateway.store.store import Store

MOST_CHATS = 200
_WORDS = {
    Level.THREAD: "here",
    Level.CHANNEL: "channel",
    Level.WORKSPACE: "workspace",
    Level.INSTALLATION: "everywhere",
}


class Row(Struct, frozen=True):
    """A model that can be chosen."""

    model: ModelInfo
    price: str
    uses: list[str]
    """Text keys."""
    rests: int
    """Minutes for which it is not asked, because it has failed; 0 if it is."""


class Choice(Struct, frozen=True):
    """A model or level of thinking that was chosen somewhere."""

    where: str
    command: str
    value: str
    reset: str
    """Command that takes it back; empty if no chat of its place is known."""
    chat: str


class ModelsScreen:
    """Shows the models, and chooses and tries them by /model and /think."""

    name = "models"
    group = Group.SYSTEM
    icon = "cpu"

    def __init__(self, models: ChatModels, store: Store, delivery: Delivery, insight: Insight) -> None:
        self._models = models
        self._store = store
        self._delivery = delivery
        self._insight = insight

    async def view(self, visit: Visit) -> View:
        """Return all models, and the choices of chats."""
        resting = self._models.chain.resting()
        chats = [chat for chat in await self._store.chats.known() if self._delivery.knows(chat)]
        names = self._insight.names(visit, await self._store.conversations.titles(chats[:MOST_CHATS]))
        rows = [
            Row(
                each,
                price_words(each, visit.language),
                [f"page_models_{use}" for use in self._models.uses(each.id)],
                ceil(resting.get(each.id, 0) / 60),
            )
            for each in self._models.offered
        ]
        facts = {
            "models": rows,
            "unreachable": self._models.unreachable,
            "levels": LEVELS,
            "choices": await self._choices(visit, chats),
            "chats": {str(each): names.of_whole(str(each)) for each in chats[:MOST_CHATS]},
        }
        return View("models.html", facts)

    async def _choices(self, visit: Visit, chats: list[ChatKey]) -> list[Choice]:
        known = {place.key: (place.level, chat) for chat in chats for place in places(chat)}
        found = await self._store.chat_settings.named(MODEL, THINKING)
        return [self._choice(visit, known, *each) for each in sorted(found)]

    def _choice(
        self, visit: Visit, known: Mapping[str, tuple[Level, ChatKey]], place: str, name: str, value: str
    ) -> Choice:
        command = "/model" if name == MODEL else "/think"
        level, chat = known.get(place, (None, None)) if place else (Level.INSTALLATION, visit.chat)
        where = f"{visit.say(f'page_level_{level}')} {place}".strip() if level else place
        reset = f"{command} default {_WORDS[level]}" if level else ""
        return Choice(where, command, value, reset, str(chat or ""))
