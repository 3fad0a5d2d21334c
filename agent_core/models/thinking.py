"""Reasoning effort of a request, as level or token budget, depending on the provider."""

from collections.abc import Mapping
from typing import get_args

from agent_core.messages import Frozen
from agent_core.models.llm import LlmOptions, ModelInfo, ThinkingLevel

BUDGETS: Mapping[str, int] = {
    "minimal": 1024,
    "low": 2048,
    "medium": 8192,
    "high": 16384,
    "xhigh": 16384,
    "max": 16384,
}
"""Tokens; `LlmOptions.thinking_budgets` overrides each."""
ANSWER_ROOM = 1024
"""Tokens reserved for the answer besides the reasoning."""
LEAST_BUDGET = 1024
"""Smallest budget that providers accept."""

_LEVELS: tuple[ThinkingLevel, ...] = get_args(ThinkingLevel)


class Thinking(Frozen):
    """The reasoning settings of a request."""

    level: ThinkingLevel
    """A level that the model supports."""
    budget: int
    max_tokens: int
    """Limit of reasoning and answer together."""


def thinking_for(model: ModelInfo, options: LlmOptions) -> Thinking | None:
    """Return the settings, or None if reasoning is off or not supported, so that the request omits them."""
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
    """Return the highest supported level up to the wanted one, else the lowest supported."""
    known = sorted(model.thinking_levels, key=_LEVELS.index) or [wanted]
    return next((level for level in reversed(known) if _LEVELS.index(level) <= _LEVELS.index(wanted)), known[0])
