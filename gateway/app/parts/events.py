"""The handling of events, from the channel to the chat on this node or another, and recovery at the start."""

from agent_core.background import Background
from gateway.app.admission import Admission, Rights
from gateway.app.chat_commands import ChatCommands
from gateway.app.command_handler import CommandHandler, TypedAnswers
from gateway.app.event_tasks import EventTasks
from gateway.app.handler import ChannelMessageHandler
from gateway.app.languages import Languages
from gateway.app.local_chats import LocalChats, Resumed, Working
from gateway.app.moves import Moves, Refresh
from gateway.app.parts.commands import CommandParts
from gateway.app.parts.parts import Parts
from gateway.app.recovery import Recovery
from gateway.app.router import EventRouter
from gateway.app.yes_or_no import PlainWords
from gateway.app.zone_answers import ZoneAnswers
from gateway.chat.ask_user_tool import FreeAnswers
from gateway.chat.replies import Replies
from gateway.cluster.protocols import Change, Chats
from gateway.upkeep.before_restore import BeforeRestore


class EventParts:
    """The handling of events, from the channel to the chat on this node or another, and recovery at the start."""

    def __init__(self, parts: Parts, commands: CommandParts, refresh: Refresh) -> None:
        base, people, chats, agents = parts.base, parts.people, parts.chats, parts.agents
        store, delivery, clock = base.store, base.delivery, base.clock
        self.handling = EventTasks(base.drain, clock)
        self.hearing = Background("routing stored events failed")
        words = PlainWords(store, delivery, clock)
        self.before_restore = BeforeRestore(store, people.owners, base.current, base.stored.restored)
        replies = Replies(store, delivery, people.access)
        answers = TypedAnswers(
            words,
            ZoneAnswers(store, delivery, clock),
            FreeAnswers(parts.guards.approvals, store, delivery),
        )
        router = EventRouter(
            chats.sessions,
            CommandHandler(commands.table, chats.sessions, answers, replies, chats.gaps, tasks=self.handling),
            chats.firings,
            access=people.access,
            replies=replies,
            pace=chats.pace,
            tasks=self.handling,
        )
        self.recovery = Recovery(
            store,
            delivery,
            parts.guards.approvals,
            agents.tasks,
            chats.firings,
            sessions=chats.sessions,
        )
        self.moves = Moves(store, base.home, clock, self._at_rest, refresh)
        delivery.moved = self.moves.begin
        resumed = Resumed(self.recovery, commands.revocation, parts.moments.taken_over, self.moves)
        working = Working(chats.sessions, agents.tasks, chats.firings, parts.guards.approvals, base.drain, parts.owed)
        here = LocalChats(router, words, delivery, working, resumed)
        self.dispatcher = base.peers.dispatcher(here, base.channels)
        self.chat_commands = ChatCommands(
            commands.table, chats.sessions, delivery, store.page_commands, self.dispatcher, clock=clock
        )
        self.admission = Admission(
            store,
            delivery,
            Rights(people.access, commands.revocation, parts.moments),
            words,
            commands=commands.table,
            before_restore=self.before_restore if self.before_restore.is_needed else None,
            strangers=people.strangers,
        )
        languages = Languages(base.stored.seen)
        self.handler = ChannelMessageHandler(self.admission, languages, people.zones, self.dispatcher)

    async def _at_rest(self, chats: Chats, change: Change) -> bool:
        return await self.dispatcher.at_rest(chats, change)
