"""The protocols of model servers, told apart by what a document of an answer holds."""

import re
from collections.abc import Mapping
from enum import StrEnum

from agent_core.models.llm import FailureCause, FailureKind, LlmFailure

_OF_ANTHROPIC = re.compile(r"message_(?:start|delta|stop)|content_block_(?:start|delta|stop)")


_PAGE = re.compile(r"(?:<!--.*?-->\s*)*<(?:!doctype html|html|head)\b", re.IGNORECASE | re.DOTALL)


class Protocol(StrEnum):
    CHAT = "OpenAI's chat protocol"
    RESPONSES = "the Responses API of OpenAI"
    ANTHROPIC = "Anthropic's protocol"
    GEMINI = "Gemini's protocol"
    OLLAMA = "Ollama's own protocol"


class OtherProtocol(ValueError):
    """The server answers in another protocol than that of the request."""

    def __init__(self, protocol: Protocol, asked: Protocol) -> None:
        super().__init__(f"it speaks {protocol} and was asked in {asked}")

    @property
    def failure(self) -> LlmFailure:
        return _failure(str(self))


def check_protocol(document: Mapping[str, object], asked: Protocol) -> None:
    """Raise OtherProtocol if a document can only be of another protocol."""
    found = _protocol_of(document)
    if found not in (None, asked):
        raise OtherProtocol(found, asked)


def failure_of_page(text: str) -> LlmFailure | None:
    """Return the failure if an answer begins as a web page does."""
    return _failure("it answers with a web page") if _PAGE.match(text.lstrip()) else None


def _failure(message: str) -> LlmFailure:
    return LlmFailure(kind=FailureKind.INVALID, cause=FailureCause.PROTOCOL, message=message)


def _protocol_of(document: Mapping[str, object]) -> Protocol | None:
    kind = str(document.get("type"))
    if isinstance(document.get("choices"), list):
        return Protocol.CHAT
    if isinstance(document.get("candidates"), list):
        return Protocol.GEMINI
    if _OF_ANTHROPIC.fullmatch(kind) or (kind == "message" and isinstance(document.get("content"), list)):
        return Protocol.ANTHROPIC
    if kind.startswith("response.") or document.get("object") == "response":
        return Protocol.RESPONSES
    if isinstance(document.get("done"), bool) and ("message" in document or "response" in document):
        return Protocol.OLLAMA
    return None
