"""How much a model is to think before it answers, in what its provider takes (S4-27, S4-28)."""

from collections.abc import Mapping
from typing import get_args

from agent_core.llm import LlmOptions, ModelInfo, ThinkingLevel
from agent_core.messages import Frozen

BUDGETS: Mapping[str, int] = {
    "minimal": 1024,
    "low": 2048,
    "medium": 8192,
    "high": 16384,
    "xhigh": 16384,
    "max": 16384,
}
"""Tokens (D-08); `LlmOptions.thinking_budgets` overrides each."""
ANSWER_ROOM = 1024
"""Tokens that stay for the answer beside the thinking."""
LEAST_BUDGET = 1024
"""What providers that take a budget take at least."""

_LEVELS: tuple[ThinkingLevel, ...] = get_args(ThinkingLevel)


class Thinking(Frozen):
    """What a request says of it."""

    level: ThinkingLevel
    """One that the model knows."""
    budget: int
    max_tokens: int
    """Of thinking and answer together."""


def thinking_for(model: ModelInfo, options: LlmOptions) -> Thinking | None:
    """None where the model is not to think, or cannot: then the request says nothing of it."""
    if options.thinking == "off" or not model.reasoning:
        return None
    budget = options.thinking_budgets.get(options.thinking, BUDGETS[options.thinking])
    room = min(budget + max(options.max_tokens, ANSWER_ROOM), model.max_output)
    return Thinking(
        level=_clamped(options.thinking, model),
        budget=max(LEAST_BUDGET, min(budget, room - ANSWER_ROOM)),
        max_tokens=room,
    )


def _clamped(wanted: ThinkingLevel, model: ModelInfo) -> ThinkingLevel:
    """The most that the model knows up to what is wanted, else the least it knows."""
    known = sorted(model.thinking_levels, key=_LEVELS.index) or [wanted]
    return next((level for level in reversed(known) if _LEVELS.index(level) <= _LEVELS.index(wanted)), known[0])
