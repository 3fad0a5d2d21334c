"""The windows, prices and abilities of hosted models, from litellm's table, read as a file."""

import asyncio
import contextlib
import functools
import importlib.util
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from agent_core.models.llm import ModelInfo, ThinkingLevel

TABLE = "model_prices_and_context_window_backup.json"
MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class _Row:
    """The fields used of a row, compact because there are thousands; prices are dollars per token."""

    max_input_tokens: int | None = None
    max_output_tokens: int | None = None
    input_cost_per_token: float | None = None
    output_cost_per_token: float | None = None
    cache_read_input_token_cost: float | None = None
    cache_creation_input_token_cost: float | None = None
    supports_vision: bool = False
    supports_function_calling: bool = False
    supports_reasoning: bool = False
    supports_minimal_reasoning_effort: bool = False
    supports_xhigh_reasoning_effort: bool = False
    supports_max_reasoning_effort: bool = False
    supports_adaptive_thinking: bool = False


_file: TypeAdapter[dict[str, dict[str, object]]] = TypeAdapter(dict[str, dict[str, object]])
_row: TypeAdapter[_Row] = TypeAdapter(_Row)
_KINDS = ("chat", "responses")


async def look_up(model_id: str, provider: str) -> ModelInfo:
    """Return what the table knows of a hosted model; an unknown one gets the defaults of `ModelInfo` and no price.

    The table is parsed once, in a thread.
    """
    table = await asyncio.to_thread(_table)
    for name in _names(model_id):
        if name in table:
            return _info(model_id, provider, table[name])
    return ModelInfo(id=model_id, provider=provider)


@functools.cache
def _table() -> dict[str, _Row]:
    """Return the table; empty if litellm is not installed or has no such file."""
    found = importlib.util.find_spec("litellm")
    folders = found.submodule_search_locations if found else None
    try:
        raw = _file.validate_json(Path(next(iter(folders or ())), TABLE).read_bytes())
    except (StopIteration, OSError, ValueError):
        return {}
    table: dict[str, _Row] = {}
    for name, row in raw.items():
        if row.get("mode") in _KINDS:
            with contextlib.suppress(ValidationError):
                table[name] = _row.validate_python(row)
    return table


def _names(model_id: str) -> Iterator[str]:
    """Yield the names under which a model may be listed: as given, then without its provider prefixes.

    Routers write "claude-haiku-4.5" for "claude-haiku-4-5".
    """
    yield model_id
    rest = model_id
    while "/" in rest:
        rest = rest.partition("/")[2]
        yield rest
        yield rest.replace(".", "-")


def _info(model_id: str, provider: str, row: _Row) -> ModelInfo:
    unknown = ModelInfo(id=model_id)
    return ModelInfo(
        id=model_id,
        provider=provider,
        context_window=row.max_input_tokens or unknown.context_window,
        max_output=row.max_output_tokens or unknown.max_output,
        vision=row.supports_vision,
        tools=row.supports_function_calling,
        reasoning=row.supports_reasoning,
        thinking_levels=tuple(_levels(row)),
        adaptive=row.supports_adaptive_thinking,
        input_price=_per_million(row.input_cost_per_token),
        output_price=_per_million(row.output_cost_per_token),
        cache_read_price=_per_million(row.cache_read_input_token_cost),
        cache_write_price=_per_million(row.cache_creation_input_token_cost),
    )


def _levels(row: _Row) -> Iterator[ThinkingLevel]:
    if row.supports_minimal_reasoning_effort:
        yield "minimal"
    yield from ("low", "medium", "high")
    if row.supports_xhigh_reasoning_effort:
        yield "xhigh"
    if row.supports_max_reasoning_effort:
        yield "max"


def _per_million(price: float | None) -> float | None:
    return None if price is None else round(price * MILLION, 6)
