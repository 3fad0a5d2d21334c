"""Chunks of the OpenAI chat protocol, as far as they are used; lenient where servers differ.

The same classes read JSON (`model_validate` of a dict) and litellm's objects, which have the same attributes.
"""

from pydantic import BaseModel, ConfigDict

from agent_core.messages import JsonObject, Text, Usage
from agent_core.models.llm import ModelInfo

MILLION = 1_000_000


class _Wire(BaseModel):
    model_config = ConfigDict(extra="ignore", from_attributes=True)


class FunctionPiece(_Wire):
    name: Text | None = None
    arguments: Text | JsonObject | None = None
    """A piece of JSON; some servers send the object itself."""


class CallPiece(_Wire):
    index: int | None = None
    id: str | None = None
    function: FunctionPiece | None = None


class ContentPart(_Wire):
    text: Text | None = None


class ThinkingBlock(_Wire):
    signature: str | None = None


class Delta(_Wire):
    content: Text | list[ContentPart] | None = None
    reasoning_content: Text | None = None
    reasoning: object = None
    """Used by OpenRouter, Ollama and newer vLLM; a text, or elsewhere an object, which is ignored."""
    thinking_blocks: list[ThinkingBlock] | None = None
    tool_calls: list[CallPiece] | None = None

    @property
    def text(self) -> str:
        if isinstance(self.content, list):
            return "".join(part.text or "" for part in self.content)
        return self.content or ""

    @property
    def thinking(self) -> str:
        return self.reasoning_content or (self.reasoning if isinstance(self.reasoning, str) else "")

    @property
    def signature(self) -> str | None:
        return next((block.signature for block in self.thinking_blocks or () if block.signature), None)


class Choice(_Wire):
    delta: Delta | None = None
    message: Delta | None = None
    """The whole answer, from a server that does not stream."""
    finish_reason: str | None = None


class _InputDetails(_Wire):
    cached_tokens: int | None = None
    cache_creation_tokens: int | None = None


class WireUsage(_Wire):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    prompt_tokens_details: _InputDetails | None = None

    def priced(self, model: ModelInfo) -> Usage:
        """Return usage with cost. `prompt_tokens` includes cached tokens; `Usage` counts each token once."""
        details = self.prompt_tokens_details or _InputDetails()
        cache_read, cache_write = details.cached_tokens or 0, details.cache_creation_tokens or 0
        fresh = max(0, (self.prompt_tokens or 0) - cache_read - cache_write)
        output = self.completion_tokens or 0
        price = model.input_price or 0.0
        read_price = price if model.cache_read_price is None else model.cache_read_price
        write_price = price if model.cache_write_price is None else model.cache_write_price
        cost = (
            fresh * price + cache_read * read_price + cache_write * write_price + output * (model.output_price or 0.0)
        )
        return Usage(
            input=fresh,
            output=output,
            cache_read=cache_read,
            cache_write=cache_write,
            total=fresh + cache_read + cache_write + output,
            cost_usd=cost / MILLION,
        )


class ErrorDetail(_Wire):
    message: Text | None = None
    code: str | int | None = None
    type: str | None = None


class Chunk(_Wire):
    choices: list[Choice] | None = None
    usage: WireUsage | None = None
    error: ErrorDetail | Text | None = None
