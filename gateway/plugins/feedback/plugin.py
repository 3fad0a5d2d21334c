"""The feedback plugin: the pair of buttons below answers, the reactions that say the same, and the command."""

from collections.abc import Sequence

from channels.base import ReactionAdded, ReactionRemoved
from gateway.commands.command import Command
from gateway.commands.press import Press, press_name
from gateway.permissions.rights import LOOK, always
from gateway.plugin import Core, Plugin
from gateway.plugins.feedback import table
from gateway.plugins.feedback.command import FeedbackCommand
from gateway.plugins.feedback.ratings import Ratings
from gateway.plugins.feedback.texts import TEXTS
from gateway.runs.run_buttons import RunButton
from gateway.store.connection import Connection
from gateway.store.erasures import Forgotten


class FeedbackPlugin(Plugin):
    """Praise and blame of answers, kept with the run."""

    name = "feedback"
    texts = TEXTS
    migrations = (table.START,)
    run_buttons = (
        RunButton(press_name("feedback", "good"), {"en": "Good answer", "zh": "回答得好"}, "answer"),
        RunButton(press_name("feedback", "bad"), {"en": "Bad answer", "zh": "回答得不好"}, "answer"),
    )

    def __init__(self, core: Core) -> None:
        super().__init__(core)
        self._rows = core.store.table(table.Feedback)
        self._ratings = Ratings(self._rows, core.store, core.clock)

    def presses(self) -> Sequence[Press]:
        return (
            Press("good", self._ratings.praised, rights=always(LOOK)),
            Press("bad", self._ratings.blamed, rights=always(LOOK)),
        )

    def commands(self) -> Sequence[Command]:
        return (FeedbackCommand(self.core, self._rows).command,)

    def reacted(self, event: ReactionAdded | ReactionRemoved) -> None:
        self._ratings.reacted(event)

    async def closed(self) -> None:
        await self._ratings.close()

    def erased(self, forgotten: Forgotten, connection: Connection) -> None:
        table.erase(connection, forgotten)


PLUGIN = FeedbackPlugin
