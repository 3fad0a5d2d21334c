"""What tells one provider from another: its protocol, what its answers carry, and what it refuses."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from tests.emulators.dialects.endings import OPENAI_ENDINGS, Endings
from tests.emulators.dialects.lessons import Lesson
from tests.emulators.dialects.server import DialectServer
from tests.emulators.model_script import Script


class WireProtocol(Protocol):
    """A provider's protocol, with what is its own in it."""

    def server(
        self,
        model: str,
        lessons: Sequence[Lesson],
        script: Script,
        *,
        api_key: str | None,
    ) -> DialectServer: ...


@dataclass(frozen=True)
class Dialect:
    """One provider."""

    name: str
    model: str
    """The model's name on the wire."""
    client: Literal["own", "litellm"]
    """The client that people get for this provider."""
    protocol: WireProtocol
    provider: str = "server"
    lessons: tuple[Lesson, ...] = ()
    endings: Endings = field(default_factory=lambda: OPENAI_ENDINGS)
    cannot: str = ""
    """What Parley cannot do there, for the table in the documents."""

    @property
    def full_model(self) -> str:
        """Return the model's name as people and the client know it."""
        return f"{self.provider}/{self.model}" if self.is_hosted else self.model

    @property
    def is_hosted(self) -> bool:
        """Return True if people choose it by the provider's name, not by an address."""
        return self.provider != "server"

    def server(self, script: Script = (), *, api_key: str | None = None) -> DialectServer:
        """Return a server of this provider that plays a script."""
        return self.protocol.server(self.model, self.lessons, script, api_key=api_key)
