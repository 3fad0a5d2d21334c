"""The plugin of reactions: it follows each message from its arrival to the end of its run."""

from collections.abc import Iterable, Mapping

from channels.base import ChatKey
from channels.capabilities import Emoji
from gateway.chat.places import Place
from gateway.plugin import Core, Plugin
from gateway.plugins.reactions import table
from gateway.plugins.reactions.reactions import HEARD, KIND, STEERED, WAITS, Reactions
from gateway.plugins.reactions.settings import ReactionsSettings
from gateway.runs.owed import Doer
from gateway.store.connection import Connection
from gateway.store.erasures import Forgotten
from gateway.store.owed import Owed
from gateway.store.rows import InboxItem, Run, RunEnd

SIGNS: Mapping[Place, Emoji | None] = {
    Place.WAITS: WAITS,
    Place.STEERS: STEERED,
    Place.BEGINS: HEARD,
    Place.OUT: None,
}


class ReactionsPlugin(Plugin):
    """Reactions on people's messages that show what becomes of them."""

    name = "reactions"
    settings = ReactionsSettings
    migrations = (table.START, table.WITHOUT_TIME)
    unfinished = "reactions"

    def __init__(self, core: Core) -> None:
        super().__init__(core)
        rows = core.store.table(table.Reactions)
        self._reactions = Reactions(rows, core.store, core.delivery, core.clock, core.settings)

    def owed(self) -> Mapping[str, Doer]:
        return {KIND: self._reactions.finish}

    def ended(self, run: Run, how: RunEnd, tx: Connection) -> Iterable[Owed]:
        return self._reactions.ended(run, how)

    def listens(self) -> bool:
        return self._reactions.follow_settings()

    def moved(self, item: InboxItem, place: Place) -> None:
        self._reactions.show(item, SIGNS[place])

    async def taken_over(self, chat: ChatKey | None) -> None:
        await self._reactions.restore(chat)

    async def closed(self) -> None:
        await self._reactions.close()

    def erased(self, forgotten: Forgotten, connection: Connection) -> None:
        for chat in forgotten.direct:
            table.erase(connection, chat)


PLUGIN = ReactionsPlugin
