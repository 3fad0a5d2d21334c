"""A guide that a test answers, in a home of its own."""

import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from agent_core.models.provided import ModelProvider
from gateway.connect.guide import Guide, Surroundings
from gateway.connect.model_guide import ModelGuide
from gateway.connect.platform_guide import PlatformGuide
from gateway.connect.program import Program
from gateway.connect.steps import Busy, Form, Step
from gateway.settings.settings import Settings, read_settings
from gateway.texts.say import Language


class Guided:
    """A guide, and every step that it has shown."""

    def __init__(self, guide: Guide, around: Surroundings) -> None:
        self.guide = guide
        self.around = around
        self.steps: list[Step] = []

    async def next(self) -> Step:
        """Return the present step, or the one after what the guide is busy with."""
        step = self.guide.step
        while isinstance(step, Busy):
            step = await self.guide.changed(self.guide.number)
        self.steps.append(step)
        return step

    async def answer(self, text: str = "") -> Step:
        await self.guide.answer(text)
        return await self.next()

    async def fill(self, *values: str) -> Step:
        """Answer a form."""
        return await self.answer(Form.packed(values))

    async def after(self, number: int) -> Step:
        """Return the first step with something to do after the one with this number."""
        await self.guide.changed(number)
        return await self.next()

    @property
    def env(self) -> str:
        """The `.env` file; empty if there is none."""
        file = self.around.settings.home / ".env"
        return file.read_text() if file.is_file() else ""


def settings_in(folder: Path, environ: Mapping[str, str]) -> Settings:
    """Return the settings as this home has them now."""
    settings, _ = read_settings({"PARLEY_HOME": str(folder), "HOME": str(folder), **environ}, folder)
    return settings


@asynccontextmanager
async def guided(
    folder: Path,
    what: str,
    environ: Mapping[str, str],
    language: Language = "en",
    program: Program | None = None,
    models: Sequence[ModelProvider] = (),
) -> AsyncIterator[Guided]:
    """Begin a guide for a platform or a model; `program` is the Parley that runs there, and `models` are of plugins."""
    settings = settings_in(folder, environ)
    around = Surroundings(settings, settings.secrets, program, time.time, models)
    guide = ModelGuide(around, language) if what == "model" else PlatformGuide(what, around, language)
    there = Guided(guide, around)
    await guide.begin()
    try:
        yield there
    finally:
        await guide.close()
