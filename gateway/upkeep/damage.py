"""Tells owners, and the conversations concerned, which stored texts a damaged disk has left unreadable."""

from collections import Counter
from collections.abc import Iterable

import structlog

from agent_core.origin import CLEAN
from channels.base import ChatKey, OutboundMessage
from gateway.delivery.delivery import Delivery
from gateway.settings.current import CurrentSettings
from gateway.store.rows import Post
from gateway.store.soundness import Damaged
from gateway.store.store import Store
from gateway.store.table import chat_of, readable
from gateway.texts.say import LANGUAGES, language_of, say
from gateway.upkeep.owners import Owners

MOST_NAMED = 5
"""Chats that a notice names."""

log = structlog.get_logger(__name__)


class Damage:
    """Looks through the store, once after each start. The same damage is told once."""

    def __init__(self, store: Store, delivery: Delivery, owners: Owners, current: CurrentSettings) -> None:
        self._store = store
        self._delivery = delivery
        self._owners = owners
        self._current = current

    async def tell(self) -> None:
        """Name what cannot be read: in the log, to owners and admins, and in conversations that have lost a part."""
        found = [each async for each in self._store.soundness.damaged()]
        if not found:
            return
        tables = Counter(each.table for each in found)
        chats = Counter(each.chat for each in found if each.chat)
        log.warning("stored rows cannot be read; they are skipped", rows=tables, chats=[*chats])
        rows, where = named(tables), named(chats) or "–"
        self._owners.tell_admins_once(
            f"damage-{len(found)}-{found[-1].table}-{found[-1].key}",
            {
                each: OutboundMessage(markdown=say("rows_damaged", each, count=len(found), rows=rows, chats=where))
                for each in LANGUAGES
            },
            besides=None,
        )
        await self._tell_chats([each for each in found if each.table == "transcript"])

    async def _tell_chats(self, found: Iterable[Damaged]) -> None:
        """Tell each conversation once that it has lost a part, and what can be done."""
        newest = {each.chat: each.key for each in found}
        for chat in readable(((name,) for name in newest), chat_of, "transcript"):
            run = f"damage-{newest[str(chat)]}"
            if self._delivery.knows(chat) and not await self._store.outbox.of_run(run):
                await self._tell_chat(chat, run)

    async def _tell_chat(self, chat: ChatKey, run: str) -> None:
        language = language_of((await self._store.chats.get(chat)).language, self._current.language)
        words = say("words_damaged", language, slash=self._delivery.channel(chat).limits.slash)
        post = Post(f"{run}:proactive:0", run, chat, OutboundMessage(markdown=words), CLEAN)
        await self._store.outbox.add([post])
        await self._delivery.deliver(chat, [post])


def named(counted: Counter[str]) -> str:
    """Return the most frequent names with their counts."""
    some = ", ".join(f"{name} ({count})" for name, count in counted.most_common(MOST_NAMED))
    return f"{some}, …" if len(counted) > MOST_NAMED else some
