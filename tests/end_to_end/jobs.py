"""A chat with scheduled jobs: the models of the chat and of the job runs, and the messages that users see."""

import re
from collections import deque
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from tests.emulators.model_script import Answer, ModelRequest, ToolUse, calls
from tests.end_to_end.platforms.platform import Chat, Message, Person, within
from tests.end_to_end.stage import Stage
from tests.end_to_end.tables import stored

SECONDS = 30
"""Time limit for starting a program on a busy machine."""
PROPOSED = "The preview is there."
REPORT = "Sales are lower than on Friday."


def proposes(when: str = "0 9 * * 1-5", kind: str = "report", what: str = "Report the sales.", **more: str) -> Answer:
    """Return an answer in which the chat's model calls `schedule`."""
    return calls(ToolUse("schedule", {"kind": kind, "what": what, "when": when, **more}))


class Cast:
    """The models of the chat and of the background runs, each with its own answers."""

    def __init__(self, *chat: Answer, runs: tuple[Answer, ...] = ()) -> None:
        self._chat = deque(chat)
        self.runs = deque(runs)
        self.asked: list[ModelRequest] = []
        """Requests of background runs."""

    def __call__(self, asked: ModelRequest) -> Answer:
        if "nothing_to_report" not in asked.tools:
            return self._chat.popleft()
        self.asked.append(asked)
        return self.runs.popleft()

    @property
    def is_over(self) -> bool:
        return not self._chat and not self.runs


async def agreed(
    stage: Stage, person: Person, chat: Chat, asking: str = "send me the sales every weekday at nine"
) -> None:
    """Ask for a job, wait for the preview, confirm it, and wait until the run that proposed it is over."""
    await chat.says(person, asking)
    await chat.until(lambda c: waits_for_a_yes(c) is not None, SECONDS)
    await confirmed(person, chat)
    await is_idle(stage.program.home)


async def confirmed(person: Person, chat: Chat) -> None:
    """Press Confirm and wait until the preview shows the result."""
    preview = waits_for_a_yes(chat)
    assert preview is not None, chat.screen
    await chat.presses(person, "Confirm")
    await chat.until(lambda _: not preview.buttons and "✓ Set" in preview.shown, SECONDS)


def waits_for_a_yes(chat: Chat) -> Message | None:
    return next((each for each in reversed(chat.bot_messages) if each.button("Confirm")), None)


def the_job(chat: Chat) -> str:
    """Return the id of the job that was set last."""
    found: list[str] = re.findall(r"✓ Set \((\w+)\)", "\n".join(chat.screen))
    return found[-1]


def count(chat: Chat, words: str) -> int:
    return "\n".join(chat.screen).count(words)


def tells(words: str, times: int = 1) -> Callable[[Chat], bool]:
    """Return a condition: this text appears `times` times, in finished messages."""

    def is_told(chat: Chat) -> bool:
        telling = [each for each in chat.bot_messages if words in each.shown]
        return count(chat, words) == times and all(each.button("Stop") is None for each in telling)

    return is_told


async def is_next(home: Path, local: str, zone: str = "Europe/Paris") -> None:
    """Wait until the only job is due at this time by the program's clock."""
    at = datetime.fromisoformat(local).replace(tzinfo=ZoneInfo(zone)).timestamp()
    await within(SECONDS, lambda: [("active", at)] == _jobs(home), lambda: f"there is {_jobs(home)}")


async def is_paused(home: Path) -> None:
    """Wait until the only job is paused."""
    await within(SECONDS, lambda: [state for state, _ in _jobs(home)] == ["paused"], lambda: f"there is {_jobs(home)}")


async def is_looked(home: Path, outcome: str) -> None:
    """Wait until the last check of the only heartbeat has this outcome, a key of the texts."""
    asked = "SELECT last_outcome FROM heartbeats"
    await within(SECONDS, lambda: stored(home, asked) == [(outcome,)], lambda: f"it is {stored(home, asked)}")


async def is_held(home: Path) -> None:
    """Wait until a message is held until the morning."""
    asked = "SELECT delivery FROM firings"
    await within(SECONDS, lambda: stored(home, asked) == [("held",)], lambda: f"it is {stored(home, asked)}")


async def is_idle(home: Path) -> None:
    """Wait until no run goes on, which may be a moment after a user has read its answer."""
    asked = "SELECT count(*) FROM runs WHERE state != 'done'"
    await within(SECONDS, lambda: stored(home, asked) == [(0,)], lambda: "a run goes on")


async def is_read(home: Path) -> None:
    """Wait until the inbox is empty, which is before a user could have read the answers."""
    asked = "SELECT count(*) FROM inbox WHERE state = 'new'"
    await within(SECONDS, lambda: stored(home, asked) == [(0,)], lambda: "there is something left in the inbox")


def _jobs(home: Path) -> list[tuple[str, float | None]]:
    return stored(home, "SELECT state, next_at FROM jobs WHERE state != 'removed'")
