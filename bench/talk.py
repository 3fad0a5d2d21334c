"""What people say in many chats at once, by words that tell each message, and what became of it on the screen."""

import asyncio
import random
import re
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from itertools import pairwise

from bench.figures import Figure
from bench.stage import Seat, TimedModel

CONTINUE = "Continue"
LOOK_EVERY_S = 0.3
WORD = re.compile(r"c\d+m\d+")


@dataclass(frozen=True)
class GivenUp:
    """Answers that Parley sent twice without confirmation and then offered instead of repeating."""

    bodies: Sequence[str]

    @property
    def words(self) -> set[str]:
        return {word for body in self.bodies for word in WORD.findall(body)}


class Talk:
    """The messages sent in each chat, in order. Each is a word that the model's answer repeats behind "Heard"."""

    def __init__(self, seats: Sequence[Seat], chance: random.Random) -> None:
        self.seats = seats
        self.said: list[list[str]] = [[] for _ in seats]
        self.set_aside = 0
        """Chats whose last run ended with a Continue button, which `go_on` pressed."""
        self._chance = chance

    async def say(self, count: int, within: float = 0.0) -> None:
        """Send messages in random chats, spread over so many seconds."""
        for _ in range(count):
            number = self._chance.randrange(len(self.seats))
            said = self.said[number]
            said.append(f"c{number}m{len(said)}")
            await self.send(number, said[-1])
            await asyncio.sleep(within / max(count, 1))

    async def send(self, number: int, word: str) -> None:
        """Send one message in a chat."""
        await self.seats[number].says(word)

    async def end(self, within: float) -> None:
        """Wait until all is answered, and press Continue where a run was set aside; give up after so many seconds."""
        await soon(lambda: self._are_answered(but_for=self._open_ones()), within)
        chats = self._open_ones()
        self.set_aside = len(chats)
        for number in chats:
            await self.seats[number].chat.presses(self.seats[number].person, CONTINUE)
        await soon(self._are_answered, within if chats else 0)
        for word in self.unanswered():
            last = [each.text for each in self.seats[_chat_of(word)].chat.bot_messages][-3:]
            print(f"{word} is not answered; what stands there last: {last}")

    def unanswered(self) -> list[str]:
        answers = self._answers()
        return [word for number, words in enumerate(self.said) for word in words if word not in set(answers[number])]

    def turned(self, came: Callable[[str], int] | None = None) -> list[int]:
        """Return for each chat how many adjacent answers are the wrong way round.

        With `came`, the place of a message in the order of arrival, only those that are wrong in that order as well.
        """
        found = []
        for words in map(_once, self._answers()):
            pairs = [
                (first, second)
                for first, second in pairwise(words)
                if _number(second) < _number(first) and (came is None or came(second) < came(first))
            ]
            found.append(len(pairs))
            if pairs:
                print(f"answered in another order{' than they came in' if came else ''}: {' '.join(words)}")
        return found

    def repeated(self) -> list[int]:
        """Return how many messages of each chat were answered twice."""
        found = []
        for seat, words in zip(self.seats, self._answers(), strict=True):
            twice = [word for word, count in Counter(words).items() if count == 2]
            found.append(len(twice))
            for word in twice:
                where = [f"{each.at:.2f} s {' → '.join(each.history)}" for each in seat.chat.bot_messages]
                print(f"answered twice: {word}, in {[each for each in where if word in each]}")
        return found

    def figures(
        self, model: TimedModel, given_up: GivenUp, most_twice: float | None, most_turned: float | None = 0
    ) -> list[Figure]:
        """Return what was lost, repeated and reordered; None: there is no target."""
        asked = {word for request in model.requests for text in request.texts("user") for word in WORD.findall(text)}
        unanswered = [word for word in self.unanswered() if word not in given_up.words]
        answers = self._answers()
        more = sum(count > 2 for words in answers for count in Counter(words).values())
        return [
            Figure("messages", sum(map(len, self.said)), ""),
            Figure("lost: never came to the model", len([word for word in unanswered if word not in asked]), "", 0),
            Figure("came to the model, and no answer stands there", len([w for w in unanswered if w in asked]), "", 0),
            Figure("answered out of order", sum(self.turned()), "", most_turned),
            Figure("answered twice", sum(self.repeated()), "", most_twice),
            Figure("answered more than twice", more, "", 0),
            Figure("counted apart: set aside after three deaths in one step, and continued", self.set_aside, ""),
            Figure("counted apart: answers left unconfirmed, and offered", len(given_up.bodies), ""),
            Figure("messages to which those were", len(given_up.words), ""),
        ]

    def _answers(self) -> list[list[str]]:
        """Return the words in each chat's answers, from top to bottom."""
        return [
            [
                word
                for message in seat.chat.bot_messages
                if "Heard" in message.text
                for word in WORD.findall(message.text)
            ]
            for seat in self.seats
        ]

    def _are_answered(self, but_for: Collection[int] = ()) -> bool:
        return all(_chat_of(word) in but_for for word in self.unanswered())

    def _open_ones(self) -> list[int]:
        """Return the chats whose last run was set aside because the process died three times in the same step."""
        return [
            number
            for number, seat in enumerate(self.seats)
            if seat.chat.bot_messages and seat.chat.bot_messages[-1].button(CONTINUE) is not None
        ]


def own_words(text: str) -> str:
    """Return a message without its context, in which words of others may be quoted."""
    return text.rpartition("</context>")[2]


async def soon(condition: Callable[[], bool], within: float) -> None:
    """Wait for a condition, or for so many seconds."""
    until = asyncio.get_running_loop().time() + within
    while not condition() and asyncio.get_running_loop().time() < until:  # noqa: ASYNC110 - it ends in any case
        await asyncio.sleep(LOOK_EVERY_S)


def _chat_of(word: str) -> int:
    return int(word[1:].partition("m")[0])


def _number(word: str) -> int:
    return int(word.partition("m")[2])


def _once(words: Sequence[str]) -> list[str]:
    """Return each word at its first appearance."""
    return [*dict.fromkeys(words)]
