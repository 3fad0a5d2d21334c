"""The protocols of model servers, told apart by what a document of an answer holds."""

import re
from collections.abc import Callable, Mapping
from enum import StrEnum
from http import HTTPStatus

from agent_core.json_text import read_json
from agent_core.models.failures import redact
from agent_core.models.llm import FailureCause, FailureKind, LlmFailure
from agent_core.models.wire_errors import error_in

_OF_ANTHROPIC = re.compile(r"message_(?:start|delta|stop)|content_block_(?:start|delta|stop)")
_OF_COHERE = re.compile(r"(?:message|content)-(?:start|delta|end)|stream-start|text-generation")
_PAGE = re.compile(
    r"(?:<\?xml[^>]*>\s*+)?+(?:<!--.*?-->\s*+)*+<(?:!doctype html|html|head|body|title|meta|center|div|h[1-3]|p|pre)\b",
    re.IGNORECASE | re.DOTALL,
)
_XML = "<?xml"
_QUOTED = 80
"""Characters that are quoted of what is no chat."""

_WITHOUT_CONTENT = (HTTPStatus.NO_CONTENT, HTTPStatus.RESET_CONTENT)


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


class NoChat(ValueError):
    """The server answers with what can be no answer of the model."""

    @property
    def failure(self) -> LlmFailure:
        return _failure(str(self))


class OtherProtocol(NoChat):
    """The server answers in another protocol than that of the request."""

    def __init__(self, protocol: Protocol, asked: Protocol) -> None:
        super().__init__(f"it speaks {protocol} and was asked in {asked}")


def check_protocol(document: Mapping[str, object], asked: Protocol) -> None:
    """Raise OtherProtocol if a document can only be of another protocol."""
    found = _protocol_of(document)
    if found not in (None, asked):
        raise OtherProtocol(found, asked)


def other_in(text: str) -> NoChat | None:
    """Return what is wrong with an answer whose first line is of a page, of XML, or JSON without any object."""
    if _PAGE.match(text.lstrip()):
        return NoChat("it answers with a web page")
    if text.lstrip().startswith(_XML):
        return NoChat("it answers with XML")
    return None if "{" in text or not _is_other_json(text) else _no_chat(text)


def check_whole(text: str, status: int, *, streams: bool) -> None:
    """Raise NoChat if a whole body can be no answer. A stream with nothing in it may have been cut."""
    bare = text.strip()
    if status in _WITHOUT_CONTENT or not (bare or streams):
        raise NoChat(f"it answers without any content (HTTP {status})")
    if not streams and _is_other_json(bare):
        raise _no_chat(bare)


def _no_chat(text: str) -> NoChat:
    return NoChat(f"it answers with {redact(text[:_QUOTED])}, which is no chat")


def _is_other_json(text: str) -> bool:
    """Return True for JSON without words, a document of any protocol, and an error."""
    try:
        value: object = read_json(text)
    except ValueError:
        return False
    if isinstance(value, str):
        return False
    documents = [each for each in (value if isinstance(value, list) else [value]) if isinstance(each, dict)]
    return not any(_protocol_of(each) or error_in(each) for each in documents)


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
