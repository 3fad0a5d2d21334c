"""Memory for a thousand chats with a past: each has 102 stored messages and sends one."""

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

from agent_core.clock import new_id
from agent_core.messages import AssistantMessage, StopReason, TextContent, Usage, user
from agent_core.origin import CLEAN
from bench.bot import PARLEY
from bench.figures import Figure
from bench.place import PLACES
from bench.stage import Seat, Stage, stage
from channels.base import ChatKey
from gateway.store.opening import FILE
from tests.emulators.model_script import Answer, ModelRequest, says

CHATS = 1_000
PAIRS = 51
"""Questions with answers in each chat."""
TOGETHER = 20
WITHIN = 60.0
SETTLE_S = 3.0
ANSWER = "Here is the answer that you were waiting for."
WORDS = "What was said then was about this long, as people and models say things to each other all day. " * 3


def respond(asked: ModelRequest) -> Answer:
    return says(ANSWER)


async def figures(on: str = "telegram") -> list[Figure]:
    async with stage(respond, on, pace=not PLACES[on].hurries, seats=CHATS + 1) as scene:
        *seats, first = scene.seats
        async with scene.bot(PARLEY, environ=PLACES[on].hurried):
            await first.says("hello")
            await first.answered(ANSWER, 1, WITHIN)
        _give_a_past(scene, first, seats)
        async with scene.bot(PARLEY, environ=PLACES[on].hurried) as bot:
            await first.says("hello again")
            await first.answered(ANSWER, 2, WITHIN)
            before = bot.rss
            for start in range(0, len(seats), TOGETHER):
                group = seats[start : start + TOGETHER]
                for seat in group:
                    await seat.says("and now?")
                await asyncio.gather(*(seat.answered(ANSWER, 1, WITHIN) for seat in group))
            await asyncio.sleep(SETTLE_S)
            after = bot.rss
        lost = sum(not seat.answers(ANSWER) for seat in seats)
    return [
        Figure("one chat has said something", before, "MB"),
        Figure(f"{CHATS} chats of {2 * PAIRS} messages have said one thing each", after, "MB", 150),
        Figure("unanswered", lost, "", 0),
    ]


def _give_a_past(scene: Stage, first: Seat, seats: list[Seat]) -> None:
    """Insert past messages into the store while the program is not running."""
    with closing(sqlite3.connect(Path(scene.folder) / "home" / FILE)) as store, store:
        known = ChatKey.parse(store.execute("SELECT chat FROM chats").fetchone()[0])
        if known.chat != str(first.chat.id):
            raise AssertionError(f"the chat {first.chat.id} is {known}")
        for seat in seats:
            key = str(known.model_copy(update={"chat": str(seat.chat.id)}))
            session = new_id()
            store.execute("INSERT INTO chats (chat, session, spoke) VALUES (?, ?, 1)", (key, session))
            for _ in range(PAIRS):
                answer = AssistantMessage(
                    id=new_id(),
                    content=(TextContent(text=WORDS),),
                    stop_reason=StopReason.STOP,
                    usage=Usage(input=100, output=100, total=200),
                    model="test-model",
                    origin=CLEAN,
                )
                asked = user(WORDS, origin=CLEAN).model_copy(update={"id": new_id()})
                run = new_id()
                for message in (asked, answer):
                    store.execute(
                        "INSERT INTO transcript (chat, session, run, turn, message) VALUES (?, ?, ?, 1, ?)",
                        (key, session, run, message.model_dump_json()),
                    )
