"""Groups of an owner and a member without budget: nobody waits for a budget of somebody else."""

import asyncio
import random
import re
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import pairwise

from bench.figures import Figure
from bench.mixed import CAME, words_in
from bench.stage import Seat, Stage
from bench.talk import own_words, soon
from tests.end_to_end.platforms.platform import Chat, Person

SETTINGS = {"PARLEY_BUDGETS_PERSON": "10 tokens a day"}
ENOUGH = "/budget me 900m tokens a day"
RAISE = "Raise to"
PRESS_EVERY_S = 2.0
SAID = re.compile(r"t\d+[om]\d+")


@dataclass
class Team:
    """One group."""

    chat: Chat
    owner: Person
    member: Person
    number: int
    of_owner: list[str] = field(default_factory=list)
    of_member: list[str] = field(default_factory=list)

    async def speak(self, *, as_owner: bool) -> None:
        mine = self.of_owner if as_owner else self.of_member
        mine.append(f"t{self.number}{'o' if as_owner else 'm'}{len(mine)}")
        await self.chat.says(self.owner if as_owner else self.member, f"@parley_bot {mine[-1]}")

    @property
    def answers(self) -> list[str]:
        """The words of owner and member in answers, from top to bottom."""
        texts = (message.text for message in self.chat.bot_messages if "Heard" in message.text)
        return [word for text in texts for word in SAID.findall(text)]

    def unanswered(self, words: Sequence[str]) -> list[str]:
        return [word for word in words if word not in self.answers]


class Teams:
    """All groups."""

    def __init__(self, teams: Sequence[Team], chance: random.Random) -> None:
        self._teams = teams
        self._chance = chance
        self._too_early = 0
        self._held_up = 0

    @classmethod
    async def gather(cls, scene: Stage, seats: Sequence[Seat], chance: random.Random) -> "Teams":
        """Let each of these people, who own Parley, meet somebody without budget."""
        teams = []
        for number, seat in enumerate(seats):
            member = scene.emulator.person(f"Member {number}")
            room = await scene.net.room(f"Team {number}", [seat.person, member])
            teams.append(Team(room, seat.person, member, number))
        return cls(teams, chance)

    @property
    def members(self) -> list[Person]:
        return [team.member for team in self._teams]

    async def say(self, count: int, within: float) -> None:
        """Let owners and members speak in turns at random, spread over so many seconds."""
        for _ in range(count):
            await self._chance.choice(self._teams).speak(as_owner=self._chance.random() < 0.5)
            await asyncio.sleep(within / max(count, 1))

    async def end(self, scene: Stage, within: float) -> None:
        """Wait until all owners are answered; then raise the budgets of the members, and wait for their answers."""
        await soon(lambda: not any(team.unanswered(team.of_owner) for team in self._teams), within)
        self._held_up = self._unanswered_of(scene, [team.of_owner for team in self._teams])
        members = {word for team in self._teams for word in team.of_member}
        self._too_early = len(members & _asked(scene))
        raising = asyncio.create_task(self._raise())
        await soon(lambda: not any(team.unanswered(team.of_member) for team in self._teams), within)
        raising.cancel()
        for team in self._teams:
            if left := team.unanswered([*team.of_owner, *team.of_member]):
                print(f"not answered in a group: {left}; there stands {[m.text for m in team.chat.bot_messages][-4:]}")

    async def _raise(self) -> None:
        """Let owners raise the budgets of members, again where a next call costs more than was offered."""
        while True:
            for team in self._teams:
                labels = [b.text for message in team.chat.bot_messages for row in message.buttons for b in row]
                label = next((each for each in labels if each.startswith(RAISE)), None)
                if label is not None:
                    with suppress(AssertionError, LookupError):  # it is gone by now
                        await team.chat.presses(team.owner, label)
            await asyncio.sleep(PRESS_EVERY_S)

    def _unanswered_of(self, scene: Stage, said: Sequence[Sequence[str]]) -> int:
        """Return how many of these words Parley has taken in and not answered."""
        came = words_in(scene.folder, CAME, SAID)
        left = (team.unanswered(words) for team, words in zip(self._teams, said, strict=True))
        return sum(word in came for words in left for word in words)

    def figures(self, scene: Stage, most_twice: float | None) -> list[Figure]:
        of_owners = [team.of_owner for team in self._teams]
        of_members = [team.of_member for team in self._teams]
        came = words_in(scene.folder, CAME, SAID)
        missing = sum(word not in came for words in (*of_owners, *of_members) for word in words)
        twice = sum(count > 1 for team in self._teams for count in Counter(team.answers).values())
        return [
            Figure("in groups: messages of owners", sum(map(len, of_owners)), ""),
            Figure("of those not answered while a member had no budget", self._held_up, "", 0),
            Figure("answered out of order", sum(map(_turned, self._teams)), "", 0),
            Figure("in groups: messages of members without budget", sum(map(len, of_members)), ""),
            Figure("of those that came to the model all the same", self._too_early, "", 0),
            Figure("not answered once the budget was raised", self._unanswered_of(scene, of_members), "", 0),
            Figure("counted apart: messages in groups sent while nobody listened", missing, ""),
            Figure("in groups: answered twice", twice, "", most_twice),
        ]


def _asked(scene: Stage) -> set[str]:
    """Return the words in groups about which the model was asked so far."""
    texts = (text for request in scene.model.requests for text in request.texts("user"))
    return {word for text in texts for word in SAID.findall(own_words(text))}


def _turned(team: Team) -> int:
    """Return how many adjacent answers to the owner are the wrong way round."""
    words = [word for word in dict.fromkeys(team.answers) if word in team.of_owner]
    return sum(team.of_owner.index(second) < team.of_owner.index(first) for first, second in pairwise(words))
