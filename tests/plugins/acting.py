"""A plugin that uses each way that a plugin has, and fails in one of them."""

import asyncio
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from typing import ClassVar

from agent_core.clock import Clock
from agent_core.loop.permissions import Proposal
from agent_core.models.llm import LlmOptions, LlmRequest, ModelInfo, StreamStart
from agent_core.models.provided import ModelProvider
from agent_core.models.scripted import Speech
from agent_core.origin import CLEAN, Origin
from agent_core.tools.tool import Tool, tool
from channels.base import Button, ChatKey, OutboundMessage, ReactionAdded, ReactionRemoved
from gateway.admin.screen import Screen, View, Visit
from gateway.admin.tables import tables_view
from gateway.chat.holds import HoldUntil
from gateway.chat.places import Place
from gateway.chat.prompt_notes import PromptHistory, PromptNote
from gateway.chat.received_files import FileContents, ReceivedFile
from gateway.chat.replies import Answer
from gateway.chat.sounds import Heard, Sound
from gateway.commands.command import Command, Invocation, Unfinished, reply
from gateway.commands.press import Press, press_action
from gateway.permissions.gates import Objection
from gateway.permissions.rights import TALK, always
from gateway.plugin import Duty, Plugin, Running
from gateway.runs.owed import Doer
from gateway.schedule.jobs.report_kinds import MadeReport, ReportKind, ReportOrder
from gateway.settings.current import CurrentSettings
from gateway.store.connection import Connection
from gateway.store.erasures import Forgotten
from gateway.store.owed import Owed
from gateway.store.rows import InboxItem, Post, Run, RunEnd
from gateway.texts.say import Language
from gateway.web.route import Answer as RouteAnswer
from gateway.web.route import Asked, Route

RAISES, EXITS, HANGS, IS_ODD = "raises", "exits", "hangs", "returns what is none"
ENDS = {RAISES: RuntimeError, EXITS: SystemExit}


class Acts(Plugin):
    """Uses each way that a plugin has, and fails in one of them."""

    fails_in: ClassVar[str] = ""
    how: ClassVar[str] = ""
    noted: ClassVar[list[str]]
    """What it was asked for."""

    def at_once(self, where: str, right: object) -> object:
        self.noted.append(where)
        if where == self.fails_in and self.how in ENDS:
            raise ENDS[self.how]("it broke")
        return 5 if where == self.fails_in else right

    async def act(self, where: str, right: object) -> object:
        if where == self.fails_in and self.how == HANGS:
            await asyncio.get_running_loop().create_future()
        return self.at_once(where, right)

    @classmethod
    def models(cls, settings: CurrentSettings, clock: Clock) -> Sequence[ModelProvider]:
        acting = cls.__new__(cls)  # no plugin is made yet

        async def look_up(model: str) -> ModelInfo:
            return await acting.act("models, the look-up", ModelInfo(id=model))  # type: ignore[return-value]

        class Client:
            async def stream(
                self, model: ModelInfo, request: LlmRequest, options: LlmOptions
            ) -> AsyncGenerator[object]:
                speech = Speech(model)
                yield await acting.act("models, the client", StreamStart())
                yield speech.text(f"{cls.name} answers")
                yield speech.done(request)

            async def close(self) -> None:
                """Do nothing."""

        return (ModelProvider(cls.name, look_up, Client),)  # type: ignore[arg-type]

    def tools(self) -> Sequence[Tool]:
        async def work() -> str:
            """Work."""
            return await self.act("tools", f"{self.name} has worked")  # type: ignore[return-value]

        work.__name__ = f"{self.name}_work"
        return (tool(label="Working", labels={"zh": "工作"}, timeout_s=0.5)(work),)

    def commands(self) -> Sequence[Command]:
        async def do(given: Invocation) -> Answer:
            return await self.act("commands", reply(f"{self.name} did it"))  # type: ignore[return-value]

        async def show(given: Invocation) -> Answer:
            button = Button(label=f"Press {self.name}", action=press_action(self.name, "it"))
            return OutboundMessage(markdown="A button.", buttons=((button,),))

        async def values(typing: Unfinished) -> Iterable[object]:
            return await self.act("commands, their values", ())  # type: ignore[return-value]

        said: Mapping[Language, str] = {"en": "Act", "zh": "行动"}
        return (
            Command(self.name, said, do, rights=always(TALK), arguments="[WHAT]", suggest=values),  # type: ignore[arg-type]
            Command(f"{self.name}_show", said, show, rights=always(TALK)),
        )

    def presses(self) -> Sequence[Press]:
        async def press(given: Invocation) -> Answer:
            return await self.act("presses", reply(f"{self.name} was pressed"))  # type: ignore[return-value]

        return (Press("it", press, always(TALK)),)

    def screens(self) -> Sequence[Screen]:
        return (Shown(self),)

    def routes(self, running: Running) -> Mapping[str, Route]:
        async def route(asked: Asked) -> RouteAnswer:
            return await self.act("routes", RouteAnswer(b"fine"))  # type: ignore[return-value]

        return {f"/{self.name}": route}

    def duties(self, running: Running) -> Mapping[str, Duty]:
        async def duty() -> None:
            await self.act("duties", None)

        return {"work": duty}

    def owed(self) -> Mapping[str, Doer]:
        async def do(item: Owed) -> Sequence[Post]:
            said = OutboundMessage(markdown=f"{self.name} owed this")
            posts = [Post(f"{item.run}:{self.name}:0", item.run, item.chat, said, CLEAN)]
            return await self.act("owed", posts)  # type: ignore[return-value]

        return {f"{self.name} line": do}

    def reports(self) -> Sequence[ReportKind]:
        async def make(order: ReportOrder) -> MadeReport:
            return await self.act("reports", MadeReport(f"{self.name} made it", CLEAN))  # type: ignore[return-value]

        said: Mapping[Language, str] = {"en": "Made", "zh": "报告"}
        return (ReportKind(self.name, said, said, "0 9 * * *", make),)

    def ended(self, run: Run, how: RunEnd, tx: Connection) -> Iterable[Owed]:
        return self.at_once("ended", [Owed(f"{self.name} line", run.id, run.chat)])  # type: ignore[return-value]

    def sent(self, post: Post, tx: Connection) -> Iterable[Owed]:
        return self.at_once("sent", ())  # type: ignore[return-value]

    async def hear(self, item: InboxItem, run: Run | None, sound: Sound, language: Language) -> Heard | None:
        return await self.act("hear", Heard(f"{self.name} heard it"))  # type: ignore[return-value]

    async def read(
        self, item: InboxItem, run: Run | None, file: ReceivedFile, room: int, language: Language
    ) -> FileContents | None:
        return await self.act("read", FileContents(f"{self.name} read it"))  # type: ignore[return-value]

    async def hold(self, chat: ChatKey) -> HoldUntil | None:
        return await self.act("hold", None)  # type: ignore[return-value]

    async def prompt(self, chat: ChatKey, person: str, history: PromptHistory) -> PromptNote | None:
        return await self.act("prompt", PromptNote(f"{self.name} notes it", CLEAN))  # type: ignore[return-value]

    async def summarised(self, chat: ChatKey, facts: Sequence[str], origin: Origin) -> None:
        await self.act("summarised", None)

    def listens(self) -> bool:
        return self.at_once("listens", right=True)  # type: ignore[return-value]

    def reacted(self, event: ReactionAdded | ReactionRemoved) -> None:
        self.at_once("reacted", None)

    def moved(self, item: InboxItem, place: Place) -> None:
        self.at_once("moved", None)

    async def taken_over(self, chat: ChatKey | None) -> None:
        await self.act("taken_over", None)

    async def closed(self) -> None:
        await self.act("closed", None)

    async def before_call(self, call: Proposal) -> Objection | None:
        return await self.act("before_call", None)  # type: ignore[return-value]

    def erased(self, forgotten: Forgotten, connection: Connection) -> None:
        self.at_once("erased", None)


class Shown:
    """A screen with a badge."""

    def __init__(self, plugin: Acts) -> None:
        self._plugin = plugin
        self.name = plugin.name

    async def view(self, visit: Visit) -> View:
        return await self._plugin.act("screens", tables_view(about="It is shown."))  # type: ignore[return-value]

    async def waiting(self) -> int:
        return await self._plugin.act("screens, their badges", 3)  # type: ignore[return-value]


def acting(called: str, fails_in: str = "", how: str = "") -> type[Acts]:
    """Return a plugin of this name."""
    own = {
        "name": called,
        "texts": {f"page_{called}": {"en": called, "zh": called}},
        "tool_names": frozenset({f"{called}_work"}),
        "paths": frozenset({f"/{called}"}),
        "fails_in": fails_in,
        "how": how,
        "noted": [],
    }
    return type(called.title(), (Acts,), own)
