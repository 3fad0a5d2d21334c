"""People who say numbered messages, a model that names the numbers, and what each was answered."""

import asyncio
import random
import re
from collections import Counter
from collections.abc import AsyncIterator
from functools import partial

from tests.emulators.model_script import Answer, ModelRequest, ToolUse, calls, says
from tests.end_to_end.platforms.platform import Chat
from tests.end_to_end.stage import Stage, shows

NUMBER = re.compile(r"\[(\d+)\]")


class Crowd:
    """Everybody in a private chat of their own. Answers are taken over from the stage's script."""

    def __init__(self, stage: Stage, people: int, chance: random.Random) -> None:
        stage.script.respond = answers
        self.people = [stage.private(f"Person {number}") for number in range(people)]
        self.said: dict[int | str, list[int]] = {chat.id: [] for _, chat in self.people}
        self._chance = chance

    async def greets(self) -> None:
        """Everybody is answered once: some platforms say nothing later of chats that Parley does not know."""
        for number, (person, chat) in enumerate(self.people):
            await chat.says(person, f"message {number}")
            self.said[chat.id].append(number)
        for number, (_, chat) in enumerate(self.people):
            await chat.until(shows(f"[{number}]"), timeout=15)

    async def talks(self, messages: int, *, longest_pause: float) -> AsyncIterator[int]:
        """Somebody writes every now and then, whether Parley listens or not; how many they have been each time."""
        first = sum(map(len, self.said.values()))
        for number in range(first, first + messages):
            person, chat = self._chance.choice(self.people)
            await chat.says(person, f"message {number}")
            self.said[chat.id].append(number)
            yield number - first + 1
            await asyncio.sleep(self._chance.uniform(0.0, longest_pause))

    async def is_answered(self, excused: Counter[str] | None = None) -> None:
        """Until everything that was said is answered, in order and once; an excused text may stand there once more."""
        for _, chat in self.people:
            await chat.until(partial(_shows, said=self.said[chat.id], excused=excused or Counter()), timeout=60)


def answers(asked: ModelRequest) -> Answer:
    """Names each message that was said since the last answer, after a tool for every third of them."""
    last = asked.messages[-1]
    numbers = re.findall(r"message (\d+)", " ".join(_said_since_the_last_answer(asked)))
    if last["role"] == "user" and int(numbers[-1]) % 3 == 0:
        return calls(ToolUse("calculator", {"expression": "17*23"}))
    return says("".join(f"[{number}]" for number in numbers), first_byte=0.05)


def _said_since_the_last_answer(asked: ModelRequest) -> list[str]:
    """What nobody has answered yet: a call of a tool is no answer."""
    words: list[str] = []
    for message in asked.messages:
        if message["role"] == "user":
            words.append(str(message["content"]))
        elif message["role"] == "assistant" and not message.get("tool_calls"):
            words = []
    return words


def _shows(chat: Chat, said: list[int], excused: Counter[str]) -> bool:
    repeats = Counter(excused)
    seen: set[str] = set()
    found: list[int] = []
    for message in chat.bot_messages:
        numbers = NUMBER.findall(message.text)
        key = "".join(f"[{number}]" for number in numbers)
        if key in seen and repeats[key] > 0:
            repeats[key] -= 1
            continue
        seen.add(key)
        found += [int(number) for number in numbers]
    return found == said
