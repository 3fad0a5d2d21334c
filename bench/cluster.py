"""Several nodes over PostgreSQL beside one process on SQLite: times to accept, begin, stop and take over; CPU time."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from functools import partial

from bench.cluster_stage import START_S, ClusterStage, cluster_stage
from bench.figures import Figure, median, p95
from bench.node_costs import IDLE_S, Costs, measured, notification, scaled
from bench.stage import Seat, Stage, stage
from parley.testing.emulators.slack import SlackEmulator
from tests.emulators.model_script import Answer, ModelRequest, ToolUse, Turn
from tests.postgres import rows
from tests.process import until

NODES = 3
SEATS = 24
MEASURED = (1, 4, 2, 2, 4, 1)
"""Numbers of nodes whose costs are measured, in an order in which a machine that slows down favours none."""
A_NODE = 12
"""Chats of each node where costs are measured: the load grows with the nodes."""
ROUNDS = 24
"""Messages in each of these chats."""
EVERY_S = 1.25
"""Seconds between two messages of such a chat. Platforms allow more, and two cores can do more: a busy node commits for
several chats at once, so the cost of a message would fall with the load."""
DEATHS = 6
"""Nodes that are killed, and as many that are told to stop, each time with a run on them."""
GIVE_UP_S = 30.0
LONG = "think it over"
"""The model answers such a message when it is told to."""
WORK = "work on it"
"""The model calls one tool after the other after such a message, until it is told to answer."""
ENOUGH = "that is enough"
ANSWER = "The answer is forty-two."
OWNER = (
    "SELECT nodes.name FROM chat_owners JOIN nodes ON nodes.id = chat_owners.node JOIN runs USING (chat)"
    " WHERE runs.state = 'running'"
)
End = Callable[[str], Coroutine[object, object, None]]
"""Ends the node with this name."""
HOLDER = "SELECT nodes.name FROM leases JOIN nodes ON nodes.id = leases.node WHERE leases.name LIKE 'receive {}%'"
RECEIVERS = ("telegram", "discord")
"""Platforms on which one node receives at a time; on Slack all do, so nothing is handed over."""


class Model:
    """A script that answers at once, except to long questions, which take a tool and wait until it may answer."""

    def __init__(self) -> None:
        self.may_answer = asyncio.Event()

    def __call__(self, asked: ModelRequest) -> Answer:
        new = _unanswered(asked)
        if WORK in new and ENOUGH not in new:
            return Turn(tools=(ToolUse("calculator", {"expression": f"{len(asked.messages)} + 1"}),))
        if LONG in asked.last_text:
            return Turn(tools=(ToolUse("clock"),), hold=self.may_answer)
        return Turn(ANSWER)


def _unanswered(asked: ModelRequest) -> str:
    """Return what users have written since the last answer."""
    words: list[str] = []
    for message in reversed(asked.messages):
        text = str(message.get("content"))
        if message["role"] == "assistant" and ANSWER in text:
            break
        if message["role"] == "user":
            words.append(text)
    return " ".join(words)


async def figures() -> list[Figure]:
    alone, its_first = await _on_sqlite()
    found = [
        Figure(f"CPU a message on SQLite, {A_NODE} chats", alone, "ms"),
        Figure("accept to first step on SQLite, median", its_first, "ms"),
    ]
    runs: dict[int, list[Costs]] = {count: [] for count in sorted(MEASURED)}
    for count in MEASURED:
        runs[count].append(await _costs(count))
    means = [Costs.mean(each) for each in runs.values()]
    for costs in means:
        name = f"{costs.nodes} nodes: "
        found += [
            Figure(f"{name}CPU a message with PostgreSQL's", costs.message, "ms", 3 * alone),
            Figure(f"{name}the same over that of one node", costs.message / means[0].message, "times", 1.15),
            *costs.figures(),
        ]
    async with _stage(NODES, SEATS, ("slack", *RECEIVERS)) as (scene, model):
        found += await _talk(scene)
        found += await _deaths(scene, model)
        told = notification(scene)
    found.append(Figure("CPU of PostgreSQL for a notification and a listener", 1e6 * told, "µs"))
    found += scaled(means[-1], told)
    return found


async def _costs(count: int) -> Costs:
    async with _stage(count, A_NODE * count) as (scene, _):
        return await measured(scene, partial(_ask_all, scene), len(scene.seats) * ROUNDS)


@asynccontextmanager
async def _stage(
    count: int, seats: int, on: Sequence[str] = ("slack", "telegram")
) -> AsyncIterator[tuple[ClusterStage, Model]]:
    model = Model()
    drains = {"PARLEY_DRAIN_SECONDS": "20"}
    async with cluster_stage(model, count, seats, on=on, environ=drains) as scene:
        for seat in scene.seats:  # opens connections and loads late imports
            await _ask(seat, 1)
        yield scene, model


async def _on_sqlite() -> tuple[float, float]:
    """Return the CPU time a message, and the median time from accept to the first step, in ms."""
    async with (
        stage(Model(), "slack", pace=False, seats=A_NODE) as scene,
        scene.bot() as bot,
    ):
        for seat in scene.seats:
            await _ask(seat, 1)
        began, before = time.monotonic(), bot.cpu
        await asyncio.sleep(IDLE_S)
        rested, idle = time.monotonic(), bot.cpu - before
        await _ask_all(scene)
        spent = bot.cpu - before - idle - idle / (rested - began) * (time.monotonic() - rested)
        times = [await _first_step(scene, seat) for seat in scene.seats for _ in range(4)]
        return 1000 * spent / (A_NODE * ROUNDS), median([first for _, first in times])


async def _ask_all(scene: ClusterStage | Stage) -> None:
    """Send all messages, at the same pace in each chat."""
    began = time.monotonic()

    async def ask(seat: Seat, first: float) -> None:
        for sent in range(ROUNDS):
            await asyncio.sleep(first + sent * EVERY_S - time.monotonic())
            await _ask(seat, sent + 2)

    step = EVERY_S / len(scene.seats)
    await asyncio.gather(*(ask(seat, began + number * step) for number, seat in enumerate(scene.seats)))


async def _ask(seat: Seat, count: int) -> None:
    """Send the `count`-th message in a chat, and wait for its answer."""
    await seat.says("hello")
    await seat.answered(ANSWER, count, GIVE_UP_S)


async def _first_step(scene: ClusterStage | Stage, seat: Seat) -> tuple[float, float]:
    """Return the times until a message on Slack is acknowledged, and from then to the model's request, in ms."""
    slack = scene.emulator if isinstance(scene, Stage) else scene.platforms["slack"].emulator
    if not isinstance(slack, SlackEmulator):
        raise TypeError("other platforms do not tell when they are answered")
    asked, count = len(scene.model.requests), len(seat.answers(ANSWER))
    said = await seat.says("hello")
    await slack.wait_for(lambda: slack.unheard == 0, GIVE_UP_S)
    accepted = time.monotonic()
    await scene.model.wait_for(lambda: len(scene.model.requests) > asked, GIVE_UP_S)
    await seat.answered(ANSWER, count + 1, GIVE_UP_S)
    return 1000 * (accepted - said), 1000 * (scene.model.requests[asked].at - said)


async def _talk(scene: ClusterStage) -> list[Figure]:
    """Measure messages and /stop. Slack gives each event to a node at random, so two of three are for another node."""
    times = [await _first_step(scene, seat) for seat in scene.on("slack") for _ in range(3)]
    stops = [await _stopped(scene, seat) for seat in scene.on("slack") for _ in range(3)]
    steered = [await _steered(scene, seat) for seat in scene.on("slack") for _ in range(3)]
    return [
        Figure("accepting a message, p95", p95([accepted for accepted, _ in times]), "ms", 25),
        Figure("message to first step, median", median([first for _, first in times]), "ms", 25),
        Figure("message to first step, p95", p95([first for _, first in times]), "ms"),
        Figure("/stop to the end of the model's call, mostly on another node, p95", p95(stops), "ms", 50),
        Figure("message to the request in which a run has it, mostly on another node, p95", p95(steered), "ms", 50),
    ]


async def _stopped(scene: ClusterStage, seat: Seat) -> float:
    """Return the time from /stop until the model's call is given up, in ms."""
    request = await _begun(scene, seat)
    said = await seat.says("/stop")
    await scene.model.wait_for(lambda: request.abandoned, GIVE_UP_S)
    return 1000 * (time.monotonic() - said)


async def _steered(scene: ClusterStage, seat: Seat) -> float:
    """Return the time from a message to the request with which a run that calls tools gives it to the model, in ms.

    A turn of the run that had begun when the message came is part of that time.
    """
    asked, count = len(scene.model.requests), len(seat.answers(ANSWER))
    await seat.says(WORK)
    await scene.model.wait_for(lambda: len(scene.model.requests) > asked + 2, GIVE_UP_S)
    said = await seat.says(ENOUGH)
    await seat.answered(ANSWER, count + 1, GIVE_UP_S)
    has_it = next(each for each in list(scene.model.requests)[asked:] if ENOUGH in _unanswered(each))
    return 1000 * (has_it.at - said)


async def _begun(scene: ClusterStage, seat: Seat) -> ModelRequest:
    """Begin a long answer, and return the model's request."""
    asked = len(scene.model.requests)
    await seat.says(LONG)
    await scene.model.wait_for(lambda: len(scene.model.requests) > asked, GIVE_UP_S)
    return scene.model.requests[asked]


async def _deaths(scene: ClusterStage, model: Model) -> list[Figure]:
    found: list[Figure] = []
    for how, most, most_lease in ((scene.nodes.kill, 3500, 5000), (scene.nodes.terminate, 1000, 1000)):
        name = "kill -9" if how == scene.nodes.kill else "SIGTERM"
        resumed = [await _resumed(scene, model, seat, how) for seat in scene.on("slack")[:DEATHS]]
        found.append(Figure(f"{name} to the next step of a run, p95", p95(resumed), "ms", most))
        for platform in RECEIVERS:
            leases = [await _handed_over(scene, platform, seat, how) for seat in scene.on(platform)[:DEATHS]]
            what = f"{name} of {platform.capitalize()}'s receiver to the answer of a message, p95"
            found.append(Figure(what, p95(leases), "ms", most_lease))
    return found


async def _resumed(scene: ClusterStage, model: Model, seat: Seat, how: End) -> float:
    """Return the time until the next request of a run whose node ends, in ms.

    It counts from the kill, or from the answer to the open call, for which a node waits that is told to stop.
    """
    count = len(seat.answers(ANSWER))
    await _begun(scene, seat)
    [(owner,)] = rows(scene.database.url, OWNER)
    asked, ended = len(scene.model.requests), time.monotonic()
    ending = asyncio.create_task(how(str(owner)))
    if how == scene.nodes.terminate:
        await until(lambda: rows(scene.database.url, "SELECT 1 FROM nodes WHERE draining AND NOT fenced"), START_S)
        ended = time.monotonic()
        model.may_answer.set()
    await scene.model.wait_for(lambda: len(scene.model.requests) > asked, GIVE_UP_S)
    model.may_answer.set()
    await seat.answered(ANSWER, count + 1, GIVE_UP_S)
    model.may_answer.clear()
    await ending
    await _again(scene, str(owner))
    return 1000 * (scene.model.requests[asked].at - ended)


async def _handed_over(scene: ClusterStage, platform: str, seat: Seat, how: End) -> float:
    """Return the time from the end of the node that receives to the answer of a message from that moment, in ms."""
    [(holder,)] = rows(scene.database.url, HOLDER.format(platform))
    count, ended = len(seat.answers(ANSWER)), time.monotonic()
    ending = asyncio.create_task(how(str(holder)))
    await _ask(seat, count + 1)
    answered = seat.answers(ANSWER)[-1]
    await ending
    await _again(scene, str(holder))
    return 1000 * (answered - ended)


async def _again(scene: ClusterStage, name: str) -> None:
    """Start a node, and wait until all of them are nodes."""
    await scene.nodes.start(name)
    alive = "SELECT count(*) FROM nodes WHERE NOT fenced AND NOT draining AND beat > clock_timestamp() - interval '1 s'"
    await until(lambda: rows(scene.database.url, alive) == [(len(scene.nodes.programs),)], START_S)
    await scene.listening()
