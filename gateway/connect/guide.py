"""A guide: a conversation of steps and answers, which a terminal or a page shows."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence

from msgspec import Struct

from agent_core.models.provided import ModelProvider
from gateway.connect.env_file import EnvFile
from gateway.connect.program import Program
from gateway.connect.steps import SKIP, YES, Busy, Check, Confirm, Done, Failed, Form, Line, Listen, Step
from gateway.errors import ParleyError
from gateway.security.secrets import Secrets
from gateway.settings.settings import Settings
from gateway.texts.say import Language, say


class Surroundings(Struct, frozen=True):
    """The parts of Parley that guides work with."""

    settings: Settings
    secrets: Secrets
    """Learns each token and key as soon as it was given."""
    program: Program | None
    """None if no Parley runs."""
    now: Callable[[], float]
    """Returns the time in seconds since the epoch."""
    models: Sequence[ModelProvider] = ()
    """The providers of models of plugins."""
    start_command: str = "parley"
    """The command that starts Parley."""


class Guide(ABC):
    """One conversation. It goes on in a task of its own, so whoever shows it may look at it at any time."""

    def __init__(self, around: Surroundings, language: Language) -> None:
        self._around = around
        self._language = language
        self._file = EnvFile.of(around.settings)
        self._changed = asyncio.Condition()
        self._answer: asyncio.Future[str] | None = None
        self._task: asyncio.Task[None] | None = None
        self.step: Step = Busy(text=self._say("connect_begins"))
        self.number = 0
        """Number of the step; it grows with each."""

    async def begin(self) -> Step:
        """Start the conversation and return its first step."""
        self._task = asyncio.create_task(self._hold(), name="guide")
        return await self.changed(self.number)

    async def answer(self, text: str) -> Step:
        """Answer the present step and return the next one. A step that asks nothing stays."""
        if self._answer is None or self._answer.done():
            return self.step
        before = self.number
        self._answer.set_result(text)
        return await self.changed(before)

    async def trouble_with(self, number: int, text: str) -> str:
        """Return what is wrong with the text in a field of the present form; empty if nothing is, or if it is empty."""
        is_one = isinstance(self.step, Form) and number < len(self.step.fields)
        return await self._wrong(number, text) if is_one and text.strip() else ""

    async def changed(self, number: int) -> Step:
        """Return the step after the one with this number, as soon as there is one. May be cancelled."""
        async with self._changed:
            while self.number <= number and self._task is not None and not self._task.done():
                await self._changed.wait()
        if self._task is not None and self._task.done() and not self._task.cancelled():
            self._task.result()  # a mistake of ours is raised here
        return self.step

    @property
    def is_over(self) -> bool:
        return isinstance(self.step, Done) or (self._task is not None and self._task.done())

    async def close(self) -> None:
        """End the conversation where it is. Nothing is left half written."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])

    @abstractmethod
    async def _wrong(self, number: int, text: str) -> str:
        """Return what is wrong with the text in a field of the present form; empty if nothing is."""

    @abstractmethod
    async def _converse(self) -> Done:
        """Go through all steps. Raises ParleyError for what has to be put right outside."""

    async def _hold(self) -> None:
        try:
            while not isinstance(self.step, Done):
                try:
                    await self._show(await self._converse())
                except ParleyError as error:
                    await self._ask(Failed(text=error.sentence))
        finally:
            async with self._changed:
                self._changed.notify_all()

    async def _show(self, step: Step) -> None:
        self.step = self._around.secrets.masked(step)
        self.number += 1
        async with self._changed:
            self._changed.notify_all()

    async def _ask(self, step: Step) -> str:
        """Show a step and return its answer."""
        self._answer = asyncio.get_running_loop().create_future()
        await self._show(step)
        return await self._answer

    async def _filled(self, form: Form) -> tuple[str, ...]:
        """Show a form and return the values of its fields."""
        return form.unpacked(await self._ask(form))

    async def _confirmed(self, text: str) -> bool:
        return await self._ask(Confirm(text=text)) == YES

    async def _put_off(self, findings: tuple[Line, ...], *, can_wait: bool) -> bool:
        """Name what has to be fixed. Return False if it shall be checked again, True to go on without."""
        text = self._say("connect_fix_or_skip" if can_wait else "connect_fix")
        return await self._ask(Check(text=text, findings=findings, can_wait=can_wait)) == SKIP and can_wait

    async def _listen(self, text: str, link: str, findings: tuple[Line, ...]) -> None:
        await self._show(Listen(text=text, link=link, findings=findings))

    def _say(self, key: str, **facts: str | int) -> str:
        return say(key, self._language, **facts)
