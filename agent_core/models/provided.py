"""Providers of models beside those that are built in, as plugins add them."""

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

from agent_core.models.llm import LlmClient, ModelInfo

PROVIDER_NAME = re.compile(r"[a-z][a-z0-9_-]*")


@dataclass(frozen=True)
class ModelProvider:
    """A provider of models, which the settings name as `NAME/MODEL`."""

    name: str
    """A word of a-z, 0-9, - and _ that no other provider has."""
    look_up: Callable[[str], Awaitable[ModelInfo]]
    """Returns the properties of a model, by what stands behind the `/`.

    Raises ModelSettingError for one that cannot be used: its text tells people what to change.
    """
    client: Callable[[], LlmClient]
    """Makes the client that all of its models are asked with. Called once, when the first of them is chosen."""
    standby: str = ""
    """The model that answers if none is set and no key or local server is found. The name of the provider alone stands
    for it."""
    about: Mapping[str, str] = field(default_factory=dict)
    """The words of `parley connect model` on the model that stands by, by language; without any it is not offered."""
    samples: Mapping[str, str] = field(default_factory=dict)
    """Texts by file name, for trying things out: an empty folder of a chat begins with them while a model of this
    provider is the default."""
    is_here: bool = False
    """True if what people write stays on this machine, which /privacy tells."""

    def id_of(self, model: str) -> str:
        """Return the name of a model as people read and write it."""
        return self.name if model == self.name else f"{self.name}/{model}"
