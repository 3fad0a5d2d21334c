"""A gateway with canaries in its settings: every exit is recorded, and every turn tries to get a canary out."""

import asyncio
import io
import re
import sqlite3
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, field
from pathlib import Path

from agent_core.clock import SystemClock, new_id
from agent_core.loop.retry import LlmRetryPolicy
from agent_core.messages import AssistantMessage, UserMessage, text_of
from agent_core.models.llm import LlmOptions, LlmRequest, ModelInfo, StreamEvent, TextDelta
from agent_core.models.scripted import SCRIPTED_MODEL, ScriptedLlm, Turn
from agent_core.tools.tool import Tool
from channels.base import ChatKey, OutboundMessage, Posted
from channels.limits import Limits
from channels.memory import NO_PACE, MemoryChannel
from gateway.app.app import App
from gateway.app.app_settings import AppSettings, System
from gateway.app.composition import composed
from gateway.permissions.roles import People
from gateway.records.logs import configure_logs
from gateway.runs.agents import AgentParts
from gateway.security.secrets import Secrets
from gateway.settings.current import CurrentSettings
from gateway.settings.settings import Settings
from gateway.store.opening import FILE
from gateway.store.store import Store
from gateway.texts.about import About

ANN = "ann"
LOCAL = NO_PACE.model_copy(update={"is_local": True})
"""Limits without any pace."""
TABLES = "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'"
"""Selects the names of all tables that hold rows, those of the search index included."""
TURN = re.compile(r"go (\d+)\b")
PIECE = 7
"""Characters per delta, so that no secret arrives in one."""


@dataclass
class Exits:
    """Everything that got out, by exit."""

    chat: set[str] = field(default_factory=set)
    model: set[str] = field(default_factory=set)
    log: io.StringIO = field(default_factory=io.StringIO)
    console: list[str] = field(default_factory=list)
    store: list[str] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    """Names of files that the gateway created."""

    def texts(self) -> dict[str, Sequence[str]]:
        return {
            "chat": sorted(self.chat),
            "model": sorted(self.model),
            "log": [self.log.getvalue()],
            "console": self.console,
            "store": self.store,
            "names": self.names,
        }


class RecordingChannel(MemoryChannel):
    """Channel that keeps every message ever sent, and every edit."""

    def __init__(self, exits: Exits, limits: Limits = LOCAL) -> None:
        super().__init__(limits=limits)
        self._exits = exits

    async def send(self, chat: ChatKey, message: OutboundMessage, key: str) -> Posted:
        self._exits.chat.add(repr(message))
        return await super().send(chat, message, key)

    async def edit(self, posted: Posted, message: OutboundMessage) -> None:
        self._exits.chat.add(repr(message))
        await super().edit(posted, message)


class Parrot(ScriptedLlm):
    """Model that plays the script of the turn named in the newest "go 17" and streams it in pieces."""

    def __init__(self, exits: Exits, most: int) -> None:
        super().__init__(*[self._play] * most)
        self.scripts: dict[int, Sequence[Turn]] = {}
        self.slow: set[int] = set()
        self._exits = exits

    async def stream(
        self, model: ModelInfo, request: LlmRequest, options: LlmOptions
    ) -> AsyncGenerator[StreamEvent, None]:
        self._exits.model.update([request.system, *map(repr, request.messages), *map(repr, request.tools)])
        number, _ = _place(request)
        async for event in super().stream(model, request, options):
            if not isinstance(event, TextDelta):
                yield event
                continue
            for start in range(0, len(event.delta), PIECE):
                if number in self.slow:
                    await asyncio.sleep(0.03)
                yield TextDelta(index=event.index, delta=event.delta[start : start + PIECE])

    def _play(self, request: LlmRequest) -> Turn:
        number, answered = _place(request)
        script = self.scripts.get(number, ())
        return script[answered] if answered < len(script) else f"done {number}"


def _place(request: LlmRequest) -> tuple[int, int]:
    """Return the turn, and how often the model has spoken in it."""
    answered = 0
    for message in reversed(request.messages):
        match message:
            case AssistantMessage():
                answered += 1
            case UserMessage() if turn := TURN.search(text_of(message.content)):
                return int(turn[1]), answered
            case _:
                pass
    return 0, 0


@dataclass
class Cage:
    app: App
    channel: RecordingChannel
    llm: Parrot

    def room(self, number: int) -> ChatKey:
        return self.channel.chat(ANN, group=f"room{number}")


@asynccontextmanager
async def cage(home: Path, secrets: Secrets, tools: Sequence[Tool], most: int) -> AsyncIterator[tuple[Cage, Exits]]:
    """Open a gateway. `most` limits the requests to the model. Afterwards the exits include stored data."""
    exits, clock = Exits(), SystemClock()
    channel, llm = RecordingChannel(exits), Parrot(exits, most)
    configure_logs(secrets, level="debug", form="json", stream=exits.log)
    about = About(model="scripted", why="a test", is_ai=True, version="0")
    async with (
        Store.open(home, clock, new_id, secrets) as store,
        composed(
            AppSettings(
                CurrentSettings(Settings(home=home)),
                people=People(owners=frozenset({"memory:ann"}), allow=frozenset()),
                secrets=secrets,
            ),
            store,
            [channel],
            AgentParts(
                llm=llm, model=SCRIPTED_MODEL, tools=tools, llm_retry=LlmRetryPolicy(base_delay_s=0.01, max_retries=1)
            ),
            about,
            system=System(clock=clock, console=exits.console.append),
        ) as made,
    ):
        running = asyncio.create_task(made.app.run())
        try:
            yield Cage(made.app, channel, llm), exits
        finally:
            running.cancel()
            await asyncio.wait([running])
    exits.store = await asyncio.to_thread(_written, home)
    exits.names = await asyncio.to_thread(_names, home)


def _written(home: Path) -> list[str]:
    """Return every value of every table, and the file itself."""
    with closing(sqlite3.connect(home / FILE)) as connection:
        tables = [row[0] for row in connection.execute(TABLES)]
        rows = [row for table in tables for row in connection.execute(f"SELECT * FROM {table}")]  # noqa: S608
    texts = [
        value.decode("latin-1") if isinstance(value, bytes) else str(value)
        for row in rows
        for value in row
        if value is not None
    ]
    return [*texts, (home / FILE).read_bytes().decode("latin-1")]


def _names(home: Path) -> list[str]:
    return [str(path.relative_to(home)) for path in home.rglob("*")]
