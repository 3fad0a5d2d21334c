"""The plan of a message, as users see it: tasks under a title, folded to the title once the message is complete."""

from collections.abc import Sequence
from dataclasses import dataclass

from parley.testing.emulators.slack_wire import Json

ICONS = {"pending": "…", "in_progress": "…", "complete": "✓", "error": "✗"}


@dataclass(frozen=True)
class Task:
    id: str
    title: str
    status: str
    details: str = ""
    output: str = ""


@dataclass(frozen=True)
class Plan:
    title: str
    tasks: tuple[Task, ...]

    @property
    def is_open(self) -> bool:
        """True while a task goes on; then the tasks are shown below the title."""
        return any(each.status in ("pending", "in_progress") for each in self.tasks)

    @property
    def rows(self) -> str:
        """The tasks, a line each, with a sign for the icon of their status."""
        lines = ((ICONS[each.status], each.title, each.details, each.output) for each in self.tasks)
        return "\n".join(" ".join(filter(None, line)) for line in lines)

    @property
    def words(self) -> str:
        """The words to be read of it while it is open."""
        return "\n".join(filter(None, (self.title, self.rows)))


def plan_of(blocks: Sequence[Json]) -> Plan | None:
    """Return the plan of a message; None if it has none."""
    found = next((each for each in blocks if each.get("type") == "plan"), None)
    if found is None:
        return None
    tasks = found.get("tasks")
    cards = (each for each in (tasks if isinstance(tasks, list) else []) if isinstance(each, dict))
    return Plan(str(found.get("title", "")), tuple(_task(each) for each in cards))


def rich_words(rich: object) -> str:
    """Return the words of rich text."""
    if isinstance(rich, list):
        return "".join(map(rich_words, rich))
    if not isinstance(rich, dict):
        return ""
    return str(rich.get("text", "")) + rich_words(rich.get("elements"))


def _task(card: Json) -> Task:
    details, output = rich_words(card.get("details")), rich_words(card.get("output"))
    return Task(str(card.get("task_id")), str(card.get("title")), str(card.get("status")), details, output)
