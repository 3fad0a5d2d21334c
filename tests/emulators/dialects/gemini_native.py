"""Gemini in its own protocol: signatures come back on the parts where they came, results in the order of their calls.

See ai.google.dev/gemini-api/docs/thought-signatures and /function-calling.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from tests.emulators.dialects.dialect import Dialect
from tests.emulators.dialects.endings import Endings
from tests.emulators.dialects.lessons import Lesson
from tests.emulators.dialects.server import DialectServer
from tests.emulators.gemini import GeminiEmulator
from tests.emulators.model_script import ModelRequest, Script

ENDINGS: Endings = {
    "STOP": "whole",
    "MAX_TOKENS": "cut",
    "SAFETY": "refused",
    "RECITATION": "refused",
    "LANGUAGE": "refused",
    "BLOCKLIST": "refused",
    "PROHIBITED_CONTENT": "refused",
    "SPII": "refused",
    "OTHER": "refused",
    "MALFORMED_FUNCTION_CALL": "broken",
    "UNEXPECTED_TOOL_CALL": "broken",
}


@dataclass(frozen=True)
class GeminiNative:
    """Gemini's own protocol, as one generation of its models speaks it."""

    is_third: bool

    def server(self, model: str, lessons: Sequence[Lesson], script: Script, *, api_key: str | None) -> "GeminiServer":
        """Return a server that speaks like this."""
        server = GeminiServer(model, lessons, script, api_key=api_key)
        server.is_third = self.is_third
        return server


class GeminiServer(DialectServer, GeminiEmulator):
    """A server with one of Gemini's models."""

    @property
    def base_url(self) -> str:
        return f"{self.url}/v1beta"

    def results(self, asked: ModelRequest) -> list[str]:
        return asked.texts("tool")

    def pictures(self, asked: ModelRequest) -> int:
        return str(asked.messages).count("'image_url': {")


GEMINI_NATIVE = Dialect(
    "Gemini", "gemini-3-flash", "litellm", GeminiNative(is_third=True), provider="gemini", endings=ENDINGS
)
GEMINI_2_5 = Dialect(
    "Gemini 2.5", "gemini-2.5-flash", "litellm", GeminiNative(is_third=False), provider="gemini", endings=ENDINGS
)
