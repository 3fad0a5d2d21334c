"""A stage with several nodes: emulated platforms and a model in this process, PostgreSQL, and a process per node."""

import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.bot import PARLEY, Bot
from bench.place import PLACES, Place, is_listening, lift_limits
from bench.stage import Seat, TimedModel, compile_sources
from channels.slack.connection import SOCKETS
from parley.testing.emulators.slack import SlackEmulator
from tests.emulators.model_script import Script
from tests.end_to_end.platforms.emulated import Emulated
from tests.nodes import Database, Nodes
from tests.process import until

START_S = 60.0
LAST_LOGGED = 2000
"""Characters of a log that an error shows."""


@dataclass(frozen=True)
class ClusterStage:
    """Nodes on all platforms, and people with a private chat each, on one platform after the other."""

    platforms: Mapping[str, Emulated]
    model: TimedModel
    database: Database
    nodes: Nodes
    seats: Sequence[Seat]

    async def listening(self) -> None:
        """Wait until a node listens on each platform, and all nodes on Slack, where each may."""
        try:
            await until(self._is_listening, START_S)
        except TimeoutError:
            raise AssertionError(self._why_not()) from None

    def _is_listening(self) -> bool:
        emulators = [each.emulator for each in self.platforms.values()]
        sockets = SOCKETS * len(self.nodes.running)
        return all(map(is_listening, emulators)) and all(_has_sockets(each, sockets) for each in emulators)

    def _why_not(self) -> str:
        """Say on which platforms a node listens, and what each node has logged last."""
        listens = {name: is_listening(each.emulator) for name, each in self.platforms.items()}
        logged = [f"{name}: {program.console[-LAST_LOGGED:]}" for name, program in self.nodes.programs.items()]
        return "\n".join([f"after {START_S:.0f} s somebody listens on {listens}, or sockets are missing", *logged])

    def on(self, platform: str) -> Sequence[Seat]:
        """Return the seats on a platform."""
        return self.seats[[*self.platforms].index(platform) :: len(self.platforms)]


@asynccontextmanager
async def cluster_stage(
    script: Script, count: int, seats: int, on: Sequence[str] = tuple(PLACES), environ: Mapping[str, str] | None = None
) -> AsyncIterator[ClusterStage]:
    """Start `count` nodes, and wait until they listen. The limits of the platforms are lifted where possible."""
    compile_sources()
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="parley-bench-")))
        database = stack.enter_context(Database.started(folder / "pg"))
        model = await stack.enter_async_context(TimedModel(script))
        places = [PLACES[name] for name in on]
        platforms = {place.platform: await stack.enter_async_context(_emulated(place)) for place in places}
        people = [_seat(platforms[places[number % len(places)].platform], number) for number in range(seats)]
        template = _template(folder, places, platforms, people, model)
        for name, value in (environ or {}).items():
            template.set(name, value)
        nodes = Nodes(template, database.url, [f"node-{number}" for number in range(1, count + 1)])
        made = ClusterStage(platforms, model, database, nodes, people)
        async with nodes.all_running():
            await made.listening()
            yield made
        trouble = [each for platform in platforms.values() for each in platform.emulator.violations]
        if trouble or model.violations:
            raise AssertionError(f"not a fair run: {[*trouble, *model.violations][:3]}")


def _has_sockets(emulator: object, count: int) -> bool:
    return not isinstance(emulator, SlackEmulator) or len(emulator.hub.ready) >= count


def _emulated(place: Place) -> Emulated:
    platform = place.build()
    if not isinstance(platform, Emulated):
        raise TypeError(f"{place.platform} is not emulated")
    return platform


def _seat(platform: Emulated, number: int) -> Seat:
    person = platform.emulator.person(f"Person {number}")
    return Seat(person, platform.emulator.private(person))


def _template(
    folder: Path, places: Sequence[Place], platforms: Mapping[str, Emulated], seats: Sequence[Seat], model: TimedModel
) -> Bot:
    bot = Bot(folder, PARLEY)
    for place in places:
        platforms[place.platform].settle(bot)
        lift_limits(platforms[place.platform].emulator)
        for name, value in place.hurried.items():
            bot.set(name, value)
    bot.set("OPENAI_BASE_URL", model.base_url)
    people = (f"{places[number % len(places)].platform}:{seat.person.id}" for number, seat in enumerate(seats))
    bot.set("PARLEY_OWNERS", ",".join(people))
    return bot
