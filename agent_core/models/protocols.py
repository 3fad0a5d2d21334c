"""The protocols of model servers, told apart by what a document of an answer holds."""

import re
from collections.abc import Callable, Mapping
from enum import StrEnum
from http import HTTPStatus

from agent_core.models.llm import FailureCause, FailureKind, LlmFailure

_OF_ANTHROPIC = re.compile(r"message_(?:start|delta|stop)|content_block_(?:start|delta|stop)")
_OF_COHERE = re.compile(r"(?:message|content)-(?:start|delta|end)|stream-start|text-generation")
_PAGE = re.compile(r"(?:<!--.*?-->\s*)*<(?:!doctype html|html|head)\b", re.IGNORECASE | re.DOTALL)


class Protocol(StrEnum):
    CHAT = "OpenAI's chat protocol"
    RESPONSES = "the Responses API of OpenAI"
    ANTHROPIC = "Anthropic's protocol"
    GEMINI = "Gemini's protocol"
    OLLAMA = "Ollama's own protocol"
    LLAMA_CPP = "llama.cpp's own protocol"
    TGI = "the own protocol of Text Generation Inference"
    COHERE = "Cohere's own protocol"
    KOBOLD = "KoboldCpp's own protocol"


_OF_SERVERS: Mapping[Protocol, Callable[[Mapping[str, object]], bool]] = {
    Protocol.OLLAMA: lambda told: isinstance(told.get("done"), bool) and ("message" in told or "response" in told),
    Protocol.LLAMA_CPP: lambda told: isinstance(told.get("content"), str) and isinstance(told.get("stop"), bool),
    Protocol.TGI: lambda told: "generated_text" in told or isinstance(told.get("token"), dict),
    Protocol.COHERE: lambda told: (
        "generation_id" in told
        or bool(_OF_COHERE.fullmatch(str(told.get("event_type") or told.get("type"))))
        or ("finish_reason" in told and isinstance(told.get("message"), dict))
    ),
    Protocol.KOBOLD: lambda told: isinstance(told.get("results"), list) or isinstance(told.get("token"), str),
}
"""Those of servers that have another protocol beside that of chats, by what only their documents hold."""


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


def failure_of_nothing() -> LlmFailure:
    """Return the failure of an answer that is meant to have no content."""
    return _failure(f"it answers without any content (HTTP {HTTPStatus.NO_CONTENT})")


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
    return next((protocol for protocol, is_of in _OF_SERVERS.items() if is_of(document)), None)
