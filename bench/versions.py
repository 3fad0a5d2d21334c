"""Two versions of Parley in turns: the cost of a message in this checkout over that in another one.

`python -m bench versions --beside ../before --on slack`; the other checkout needs its `.venv`, which `./run check`
makes there. A pair is two fresh processes, one of each version, whose messages alternate.
"""

import statistics
from pathlib import Path

from bench.bot import PARLEY
from bench.figures import Figure, median
from bench.latency import SEATS, Run, respond
from bench.place import PLACES
from bench.stage import stage

PAIRS = 20
ROUNDS = 3
"""Messages in each chat, after a first one that opens connections and loads late imports."""
MOST = 1.03
T_95 = 2.093
"""Student's quantile for the 95 % interval of 20 values."""
WORDS = "hello"


async def figures(on: str, beside: Path) -> list[Figure]:
    """Compare this checkout with the one in the folder `beside`. Raises FileNotFoundError if that has no `.venv`."""
    if not (beside / ".venv/bin/python").exists():
        raise FileNotFoundError(f"{beside / '.venv/bin/python'}: run ./run check in that checkout first")
    pairs = [await _pair(on, beside, first=number % 2) for number in range(PAIRS)]
    latencies = [median(ours.added) / median(other.added) for ours, other in pairs]
    costs = [ours.cpu / other.cpu for ours, other in pairs]
    return [
        Figure(f"added latency, mean of {PAIRS} medians", _mean([median(ours.added) for ours, _ in pairs]), "ms"),
        Figure("the same of the other version", _mean([median(other.added) for _, other in pairs]), "ms"),
        *_interval("added latency over that of the other version", latencies),
        Figure(f"CPU a message, mean of {PAIRS}", _mean([ours.cpu for ours, _ in pairs]), "ms"),
        Figure("the same of the other version", _mean([other.cpu for _, other in pairs]), "ms"),
        *_interval("CPU a message over that of the other version", costs),
        Figure(f"written a message, mean of {PAIRS}", _mean([ours.written for ours, _ in pairs]), "kB"),
        Figure("the same of the other version", _mean([other.written for _, other in pairs]), "kB"),
    ]


async def _pair(on: str, beside: Path, *, first: int) -> tuple[Run, Run]:
    """Measure this version and the other one; `first` is 1 if the other one starts and speaks first."""
    environ = {**PLACES[on].hurried, "PYTHONPATH": str(beside)}
    command = (str(beside / ".venv/bin/python"), *PARLEY[1:])
    async with (
        stage(respond, on, pace=False, seats=SEATS) as scene,
        scene.bot(environ=PLACES[on].hurried) as ours,
        stage(respond, on, pace=False, seats=SEATS) as their_scene,
        their_scene.bot(command, environ) as theirs,
    ):
        runs = (Run(scene, ours), Run(their_scene, theirs))
        in_turn = runs[::-1] if first else runs
        for count in range(1, ROUNDS + 2):
            if count == 2:
                for run in runs:
                    run.begin()
            for number in range(SEATS):
                for run in in_turn:
                    await run.ask(number, WORDS, count)
        for run in runs:
            run.end()
        return runs


def _interval(name: str, ratios: list[float]) -> list[Figure]:
    """Return the ends of the 95 % interval of the mean ratio."""
    mean, half = _mean(ratios), T_95 * statistics.stdev(ratios) / len(ratios) ** 0.5
    return [
        Figure(f"{name}, mean", mean, "times"),
        Figure(f"{name}, lower end of its 95 % interval", mean - half, "times"),
        Figure(f"{name}, upper end of its 95 % interval", mean + half, "times", MOST),
    ]


def _mean(values: list[float]) -> float:
    return statistics.fmean(values)
