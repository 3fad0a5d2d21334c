"""Users who send numbered messages, a model that names the numbers, and a check of the answers."""

import asyncio
import random
import re
from collections import Counter
from collections.abc import AsyncIterator
from functools import partial

from tests.emulators.model_script import Answer, ModelRequest, ToolUse, Turn, calls
from tests.end_to_end.platforms.platform import Chat
from tests.end_to_end.stage import Stage, shows

NUMBER = re.compile(r"\[(\d+)\]")


class Crowd:
    """Users in private chats. The answers come from the stage's script."""

    def __init__(self, stage: Stage, people: int, chance: random.Random) -> None:
        stage.script.respond = answers
        self.people = [stage.private(f"Person {number}") for number in range(people)]
        self.said: dict[int | str, list[int]] = {chat.id: [] for _, chat in self.people}
        self._chance = chance

    async def greets(self) -> None:
        """Let Parley answer every user once, as some platforms later deliver nothing from chats that Parley does not
        know."""
        for number, (person, chat) in enumerate(self.people):
            await chat.says(person, f"message {number}")
            self.said[chat.id].append(number)
        for number, (_, chat) in enumerate(self.people):
            await chat.until(shows(f"[{number}]"))

    async def talks(self, messages: int, *, longest_pause: float) -> AsyncIterator[int]:
        """Send messages at random intervals, whether Parley is listening or not; yield the number of messages so
        far."""
        first = sum(map(len, self.said.values()))
        for number in range(first, first + messages):
            person, chat = self._chance.choice(self.people)
            await chat.says(person, f"message {number}")
            self.said[chat.id].append(number)
            yield number - first + 1
            await asyncio.sleep(self._chance.uniform(0.0, longest_pause))

    async def is_answered(self, excused: Counter[str] | None = None) -> None:
        """Wait until every message is answered once and in order; an excused text may appear once more."""
        for _, chat in self.people:
            await chat.until(partial(_shows, said=self.said[chat.id], excused=excused or Counter()), timeout=60)


def answers(asked: ModelRequest) -> Answer:
    """Name each message since the last answer, after a tool call for every third of them."""
    last = asked.messages[-1]
    numbers = re.findall(r"message (\d+)", " ".join(_said_since_the_last_answer(asked)))
    if last["role"] == "user" and int(numbers[-1]) % 3 == 0:
        return calls(ToolUse("calculator", {"expression": "17*23"}))
    return Turn("".join(f"[{number}]" for number in numbers), first_byte=0.05)


def _said_since_the_last_answer(asked: ModelRequest) -> list[str]:
    """Return the unanswered user messages; a tool call is no answer."""
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
