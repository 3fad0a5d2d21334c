"""Nodes are killed and frozen and the database is restarted while people write on three platforms at once.

The sizes come from the command line: `python -m bench chaos --nodes 3 --messages 300 --chats 24 --kills 9 --freezes 3
--restarts 1`. Every fourth message makes the model write a file first, and each chat sets one reminder.
"""

import asyncio
import random
from collections import Counter
from collections.abc import Iterator

from bench.cluster_stage import START_S, ClusterStage, cluster_stage
from bench.figures import Figure
from bench.kills import AT_THE_END_S, MODEL_S, MOST_TWICE, UNCONFIRMED, Sizes, shares
from bench.talk import WORD, GivenUp, Talk
from tests.emulators.model_script import Answer, ModelRequest, ToolUse, Turn
from tests.postgres import rows
from tests.process import until

LONGEST_CALM_S = 6.0
LONGEST_DOWN_S = 3.0
FROZEN_S = 2.0, 20.0
REMINDER = "ping"
REMIND = f"/remind in 1m {REMINDER}"
DUE_S = 60.0
LATE_S = 90.0
"""Seconds after its time in which a reminder has to be there."""
RUN_AGAIN = (
    "SELECT count(*) FROM (SELECT session, call FROM tool_calls WHERE result IS NOT NULL"
    " GROUP BY session, call HAVING count(*) > 1) AS again"
)


def answer(asked: ModelRequest) -> Answer:
    """Name the messages since the last answer, once a file is written for one of them where that is to be."""
    new: list[str] = []
    is_written = False
    for message in reversed(asked.messages):
        if message["role"] == "assistant" and "Heard" in str(message.get("content")):
            break
        is_written = is_written or message["role"] == "tool"
        if message["role"] == "user":
            new = WORD.findall(str(message["content"])) + new
    if any(_needs_a_file(word) for word in new) and not is_written:
        use = ToolUse("write_file", {"path": f"{new[-1]}.txt", "content": new[-1]})
        return Turn(tools=(use,), first_byte=MODEL_S)
    return Turn(f"Heard {' '.join(new)}.", first_byte=MODEL_S)


async def figures(sizes: Sizes) -> list[Figure]:
    chance = random.Random(sizes.seed)  # noqa: S311 (a bench that can be repeated)
    async with cluster_stage(answer, sizes.nodes, sizes.chats) as scene:
        talk = Talk(scene.seats, chance)
        for seat in scene.seats:
            await seat.says(REMIND)
        await until(lambda: all(seat.chat.bot_messages for seat in scene.seats), START_S)
        remind_at = asyncio.get_running_loop().time() + DUE_S
        async with asyncio.TaskGroup() as returns:
            await _Chaos(scene, chance, returns).play(talk, sizes)
        await _all_run(scene)
        await talk.end(AT_THE_END_S)
        await asyncio.sleep(max(0.0, remind_at + LATE_S - asyncio.get_running_loop().time()))
        given_up = GivenUp([str(body) for (body,) in rows(scene.database.url, UNCONFIRMED)])
        return [*talk.figures(scene.model, given_up, None, None), *_others(scene, talk)]


class _Chaos:
    """Disturbs the nodes and the database in random order."""

    def __init__(self, scene: ClusterStage, chance: random.Random, returns: asyncio.TaskGroup) -> None:
        """`returns` runs what ends a disturbance later."""
        self._scene = scene
        self._chance = chance
        self._returns = returns
        self._frozen: set[str] = set()

    async def play(self, talk: Talk, sizes: Sizes) -> None:
        disturb = [self._kill] * sizes.kills + [self._freeze] * sizes.freezes + [self._restart] * sizes.restarts
        self._chance.shuffle(disturb)
        for share, each in zip(shares(sizes.messages, len(disturb)), disturb, strict=True):
            await talk.say(share, within=self._chance.random() * LONGEST_CALM_S)
            await each()

    async def _kill(self) -> None:
        name = await self._any_awake()
        await self._scene.nodes.kill(name)
        self._returns.create_task(self._start(name, self._chance.random() * LONGEST_DOWN_S))

    async def _freeze(self) -> None:
        name = await self._any_awake()
        self._frozen.add(name)
        self._scene.nodes.programs[name].freeze()
        self._returns.create_task(self._thaw(name, self._chance.uniform(*FROZEN_S)))

    async def _restart(self) -> None:
        await self._scene.database.restart(crash=self._chance.random() < 0.5)

    async def _any_awake(self) -> str:
        """Return a node that runs and is not frozen, and wait for one if need be."""
        await until(self._awake, START_S)
        return self._chance.choice(self._awake())

    def _awake(self) -> list[str]:
        return [name for name in self._scene.nodes.running if name not in self._frozen]

    async def _start(self, name: str, after: float) -> None:
        await asyncio.sleep(after)
        await self._scene.nodes.start(name)

    async def _thaw(self, name: str, after: float) -> None:
        await asyncio.sleep(after)
        self._frozen.discard(name)
        if name in self._scene.nodes.running:
            self._scene.nodes.programs[name].thaw()


async def _all_run(scene: ClusterStage) -> None:
    for name in scene.nodes.programs:
        await scene.nodes.start(name)
    await scene.listening()


def _others(scene: ClusterStage, talk: Talk) -> Iterator[Figure]:
    """Yield what the database and the screens say of repetitions, tools and reminders."""
    repeated, turned = talk.repeated(), talk.turned(_arrivals(scene).index)
    for place, platform in enumerate(scene.platforms):
        here = slice(place, None, len(scene.platforms))
        yield Figure(f"answered twice on {platform}", sum(repeated[here]), "", MOST_TWICE.get(platform))
        yield Figure(f"answered in another order than they came in on {platform}", sum(turned[here]), "", 0)
    [(again,)] = rows(scene.database.url, RUN_AGAIN)
    shown = Counter(
        number
        for number, seat in enumerate(scene.seats)
        for message in seat.chat.bot_messages
        if REMINDER in message.text and message.text.startswith("⏰")
    )
    missed = [seat for number, seat in enumerate(scene.seats) if not shown[number]]
    for seat in missed:
        print(f"no reminder came in {seat.chat.id}: {[each.text for each in seat.chat.bot_messages][:3]}")
    yield Figure("nodes that were started while the database was away, and ended", scene.nodes.ended, "")
    yield Figure("completed tools run again", float(str(again)), "", 0)
    yield Figure("reminders", len(scene.seats), "")
    yield Figure("reminders missed", len(missed), "", 0)
    for place, platform in enumerate(scene.platforms):
        doubled = sum(count > 1 for number, count in shown.items() if number % len(scene.platforms) == place)
        yield Figure(f"reminders doubled on {platform}", doubled, "", MOST_TWICE.get(platform))


def _arrivals(scene: ClusterStage) -> list[str]:
    """Return the words in the order in which they were stored.

    Slack gives an event that a dead or frozen node does not acknowledge to another one after three seconds, when later
    messages may have come in and been answered.
    """
    payloads = rows(scene.database.url, "SELECT payload FROM inbox ORDER BY seq")
    return list(dict.fromkeys(word for (payload,) in payloads for word in WORD.findall(str(payload))))


def _needs_a_file(word: str) -> bool:
    return int(word.partition("m")[2]) % 4 == 0
