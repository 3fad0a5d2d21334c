"""Draws docs/architecture/README.md from the code: `python -m bench pictures`.

The first picture shows the layers that import-linter enforces, the second the modules that a "hello" on the emulated
Telegram goes through: their calls, and the tasks that they start, as a profiler sees them.
"""

import itertools
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from bench.entered import Entry, Trip
from bench.modules import PRODUCT, REPOSITORY, layers

PAGE = REPOSITORY / "docs" / "architecture" / "README.md"
COMMAND = ".venv/bin/python -m bench pictures"


@dataclass(frozen=True)
class Waypoint:
    """A function on the way of a message: the first one entered in this folder, or the first with this name there."""

    folder: str
    function: str
    label: str


WAYPOINTS = (
    Waypoint("gateway/permissions/", "", "the user may speak"),
    Waypoint("gateway/store/", "", "the message is stored"),
    Waypoint("agent_core/models/", "stream", "the model is asked"),
    Waypoint("channels/telegram/", "send", "the answer is sent"),
)

TEXT = f"""\
# Architecture in two pictures

Both are drawn from the code. `{COMMAND}` writes this page anew; a test fails if it is out of date.
[ARCHITECTURE.md](../../ARCHITECTURE.md) explains the parts.

## The parts

A module may import those in boxes below its own, and `gateway` may import the other two packages. import-linter checks
this (`[tool.importlinter]` in pyproject.toml).

```mermaid
{{parts}}
```

## A message's way

The modules that a "hello" on Telegram goes through, from its arrival to the answer. An arrow is a call; a dotted arrow
starts a task, in which the work goes on.

```mermaid
{{message}}
```
"""


def page(trips: Sequence[Trip]) -> str:
    """Return the text of the page. Of several messages, the way that most of them took is drawn."""
    return TEXT.format(parts=draw_parts(), message=statistics.mode(draw_message(trip.whole) for trip in trips))


def draw_parts() -> str:
    """Draw one box for each layer."""
    lines = ["flowchart TB"]
    for package in PRODUCT:
        lines.append(f"    subgraph {package}")
        for number, layer in enumerate(layers(package)):
            lines.append(f'        {package}{number}["{" · ".join(name.strip() for name in layer.split("|"))}"]')
            if number:
                lines.append(f"        {package}{number - 1} --> {package}{number}")
        lines.append("    end")
    return "\n".join([*lines, *(f"    {PRODUCT[0]} --> {package}" for package in PRODUCT[1:])])


def draw_message(entered: Sequence[Entry]) -> str:
    """Draw one box for each module on the way to a waypoint."""
    boxes: dict[str, str] = {}
    arrows: dict[str, None] = {}
    for number, waypoint in enumerate(WAYPOINTS, 1):
        way = _way(entered, waypoint)
        for step in way:
            boxes.setdefault(step.path, f"module{len(boxes) + 1}")
        for before, after in itertools.pairwise(way):
            if before.path != after.path:
                arrow = "-.->" if after.begins_task else "-->"
                arrows[f"    {boxes[before.path]} {arrow} {boxes[after.path]}"] = None
        arrows[f'    {boxes[way[-1].path]} --> step{number}(["{number}. {waypoint.label}"])'] = None
    drawn = [f'    {name}["{path}"]' for path, name in boxes.items()]
    return "\n".join(["flowchart TB", *drawn, '    event(["a message arrives"]) --> module1', *arrows])


@dataclass(frozen=True)
class Step:
    path: str
    begins_task: bool
    """True if the module's function is a task that the step before it has started."""


def _way(entered: Sequence[Entry], waypoint: Waypoint) -> Sequence[Step]:
    """Return the modules from the channel that delivers the event to the waypoint."""
    ways = (
        _from_channel([Step(path, number == 0) for stack in entry.stacks for number, path in enumerate(stack)])
        for entry in entered
        if entry.path.startswith(waypoint.folder)
        if waypoint.function in {"", entry.function.rpartition(".")[2]}
    )
    return next(filter(None, ways))


def _from_channel(steps: Sequence[Step]) -> Sequence[Step]:
    """Leave out the steps before the channel passes the event on; an empty result: it passes none on."""
    for number, (before, after) in enumerate(itertools.pairwise(steps)):
        if before.path.startswith("channels/") and not after.path.startswith("channels/"):
            return steps[number:]
    return []
