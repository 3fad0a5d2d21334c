"""The plugin of the demo model: its provider of models."""

from collections.abc import Sequence
from functools import partial
from importlib import import_module
from typing import cast

from agent_core.clock import Clock
from agent_core.models.llm import LlmClient, ModelInfo
from agent_core.models.provided import ModelProvider
from agent_core.models.selection import ModelSettingError
from gateway.plugin import Plugin
from gateway.plugins.demo.samples import SAMPLES
from gateway.settings.current import CurrentSettings

DEMO_MODEL = ModelInfo(id="demo", is_ai=False, vision=True, input_price=0.0, output_price=0.0)
"""Declared with vision, so that it receives pictures and can say that it cannot look at them."""
ABOUT = {"en": "no AI: the built-in demo, to try everything else", "zh": "不用 AI：内置演示，可试用其他功能"}


async def look_up(model: str) -> ModelInfo:
    """Return the properties of the only model."""
    if model != DEMO_MODEL.id:
        raise ModelSettingError(f'There is no demo model "{model}": write "demo".')
    return DEMO_MODEL


def client(clock: Clock) -> LlmClient:
    """Return the client. Its module is imported only now: most starts do not need it, and it is slow to import."""
    return cast(LlmClient, import_module("gateway.plugins.demo.model").DemoLlm(clock))


class Demo(Plugin):
    """The model that answers where no other is set, so that everything else can be tried."""

    name = "demo"

    @classmethod
    def models(cls, settings: CurrentSettings, clock: Clock) -> Sequence[ModelProvider]:
        made = partial(client, clock)
        return (ModelProvider("demo", look_up, made, standby="demo", about=ABOUT, samples=SAMPLES, is_here=True),)


PLUGIN = Demo
