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
    provider: str
    """What stands before the model in a setting, and in the names of the variables for its address and key."""
    lessons: tuple[Lesson, ...] = ()
    endings: Endings = field(default_factory=lambda: OPENAI_ENDINGS)
    cannot: str = ""
    """What Parley cannot do there, for the table in the documents."""

    @property
    def setting(self) -> str:
        """Return the model as people write it in settings."""
        return f"{self.provider}/{self.model}"

    def environ(self, address: str, key: str) -> dict[str, str]:
        """Return the variables with which people reach this provider at an address."""
        brand = self.provider.upper()
        return {f"{brand}_API_BASE": address, f"{brand}_API_KEY": key}

    def server(self, script: Script = (), *, api_key: str | None = None) -> DialectServer:
        """Return a server of this provider that plays a script."""
        return self.protocol.server(self.model, self.lessons, script, api_key=api_key)
