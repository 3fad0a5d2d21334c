"""Killed again and again at moments that a seed chooses: nothing is lost, nothing said twice, every chat in order."""

import asyncio
import json
import random
import re
import sqlite3
from collections import Counter
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from gateway.store.store import FILE
from tests.emulators.model_script import Answer, ModelRequest, ToolUse, calls, says
from tests.end_to_end.platforms.catalogue import where
from tests.end_to_end.platforms.platform import Chat, Person
from tests.end_to_end.stage import Stage, shows

CHATS = 8
MESSAGES = 48
KILLS = 6
SHORTEST_LIFE, LONGEST_LIFE = 0.1, 0.6
pytestmark = [where(lambda facts: facts.emulated), pytest.mark.timeout(240)]


def answers(asked: ModelRequest) -> Answer:
    """Names each message that was said since the last answer, after a tool for every third of them."""
    last = asked.messages[-1]
    numbers = re.findall(r"message (\d+)", " ".join(said_since_the_last_answer(asked)))
    if last["role"] == "user" and int(numbers[-1]) % 3 == 0:
        return calls(ToolUse("calculator", {"expression": "17*23"}))
    return says("".join(f"[{number}]" for number in numbers), first_byte=0.05)


def said_since_the_last_answer(asked: ModelRequest) -> list[str]:
    """What nobody has answered yet: a call of a tool is no answer."""
    words: list[str] = []
    for message in asked.messages:
        if message["role"] == "user":
            words.append(str(message["content"]))
        elif message["role"] == "assistant" and not message.get("tool_calls"):
            words = []
    return words


def unsettled(home: Path) -> list[str]:
    """The texts that a killed Parley had begun to send and not yet noted as sent. Where a platform has no key that
    would tell whether they arrived, the next life sends them once more."""
    with closing(sqlite3.connect(home / FILE)) as store:
        bodies = store.execute("SELECT body FROM outbox WHERE state IN ('pending', 'sending')").fetchall()
    return [json.loads(body)["markdown"] for (body,) in bodies]


def answered(chat: Chat, excused: Counter[str]) -> list[int]:
    """The numbers that were answered, in order; a text that a kill left unsettled may stand there once more."""
    repeats = Counter(excused)
    seen: set[str] = set()
    found: list[int] = []
    for message in chat.bot_messages:
        numbers = re.findall(r"\[\d+\]", message.text)
        key = "".join(numbers)
        if key in seen and repeats[key] > 0:
            repeats[key] -= 1
            continue
        seen.add(key)
        found += [int(number.strip("[]")) for number in numbers]
    return found


def is_answered(chat: Chat, said: list[int], excused: Counter[str]) -> bool:
    return answered(chat, excused) == said


async def greet(people: list[tuple[Person, Chat]], said: dict[int | str, list[int]]) -> None:
    """Everybody is answered once: some platforms say nothing later of chats that Parley does not know."""
    for number, (person, chat) in enumerate(people):
        await chat.says(person, f"message {number}")
        said[chat.id] = [number]
    for number, (_, chat) in enumerate(people):
        await chat.until(shows(f"[{number}]"))


async def talk(people: list[tuple[Person, Chat]], chance: random.Random, said: dict[int | str, list[int]]) -> None:
    """Somebody writes every now and then, whether Parley lives or not."""
    for number in range(len(people), MESSAGES):
        person, chat = chance.choice(people)
        await chat.says(person, f"message {number}")
        said[chat.id].append(number)
        await asyncio.sleep(chance.uniform(0.0, 0.4))


async def test_killed_at_random_nothing_is_lost_or_doubled_and_every_chat_keeps_its_order(own_stage: Stage) -> None:
    stage, chance = own_stage, random.Random(20_261_121)  # noqa: S311
    stage.script.respond = answers
    people = [stage.private(f"Person {number}") for number in range(CHATS)]
    said: dict[int | str, list[int]] = {}
    excused: Counter[str] = Counter()
    stage.net.lift_limits()
    await stage.start()

    await greet(people, said)
    talking = asyncio.create_task(talk(people, chance, said))
    for _ in range(KILLS):
        await asyncio.sleep(chance.uniform(SHORTEST_LIFE, LONGEST_LIFE))
        await stage.program.kill()
        if not stage.platform.facts.knows_resends:
            excused.update("".join(re.findall(r"\[\d+\]", text)) for text in unsettled(stage.program.home))
        await stage.start()
    await talking

    for _, chat in people:
        await chat.until(partial(is_answered, said=said[chat.id], excused=excused), timeout=60)
    assert sum(len(numbers) for numbers in said.values()) == MESSAGES
