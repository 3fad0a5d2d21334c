"""Killed again and again at moments that a seed chooses: nothing is lost, nothing said twice, every chat in order."""

import asyncio
import random
import re
from functools import partial

import pytest

from tests.emulators.model_script import Answer, ModelRequest, ToolUse, calls, says
from tests.emulators.telegram_chat import Chat
from tests.emulators.telegram_state import Person
from tests.end_to_end.program import Stage

CHATS = 8
MESSAGES = 60
KILLS = 8
SHORTEST_LIFE, LONGEST_LIFE = 0.1, 0.6
MOMENT = 0.3
"""Seconds before a kill in which a message may have been sent and not yet noted: Telegram has no key that tells."""

pytestmark = pytest.mark.timeout(240)


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


def answered(chat: Chat, kills: list[float]) -> list[int]:
    """The numbers that were answered, in order; what was sent the moment before a kill counts once."""
    found: list[int] = []
    excused: set[int] = set()
    for message in chat.bot_messages:
        numbers = [int(number) for number in re.findall(r"\[(\d+)\]", message.text)]
        found += [number for number in numbers if number not in excused]
        if any(message.at <= kill <= message.at + MOMENT for kill in kills):
            excused.update(numbers)
    return found


def is_answered(chat: Chat, said: list[int], kills: list[float]) -> bool:
    return answered(chat, kills) == said


async def talk(people: list[tuple[Person, Chat]], chance: random.Random, said: dict[int, list[int]]) -> None:
    """Somebody writes every now and then, whether Parley lives or not."""
    for number in range(MESSAGES):
        person, chat = chance.choice(people)
        await chat.says(person, f"message {number}")
        said.setdefault(chat.id, []).append(number)
        await asyncio.sleep(chance.uniform(0.0, 0.4))


async def test_killed_at_random_nothing_is_lost_or_doubled_and_every_chat_keeps_its_order(own_stage: Stage) -> None:
    stage, chance = own_stage, random.Random(20_261_121)  # noqa: S311
    stage.script.respond = answers
    people = [stage.private(f"Person {number}") for number in range(CHATS)]
    said: dict[int, list[int]] = {}
    kills: list[float] = []
    await stage.start()

    talking = asyncio.create_task(talk(people, chance, said))
    for _ in range(KILLS):
        await asyncio.sleep(chance.uniform(SHORTEST_LIFE, LONGEST_LIFE))
        kills.append(stage.telegram.clock())
        await stage.program.kill()
        await stage.start()
    await talking

    for _, chat in people:
        await chat.until(partial(is_answered, said=said.get(chat.id, []), kills=kills), timeout=60)
    assert sum(len(numbers) for numbers in said.values()) == MESSAGES
