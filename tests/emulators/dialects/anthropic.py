"""Anthropic itself: models that think for a budget, those that also or only decide how long, and those that always
think.

The thoughts of the newest are bound to what was sent before them, for accounts made since the end of August 2026.
"""

from tests.emulators.dialects.anthropic_messages import AnthropicMessages
from tests.emulators.dialects.dialect import Dialect
from tests.emulators.dialects.endings import Endings
from tests.emulators.dialects.lessons import Lesson

NO_EFFORT = "This model does not support the effort parameter."
HOT = (
    "`temperature` may only be set to 1 when thinking is enabled. Please consult our documentation at "
    "https://docs.claude.com/en/docs/build-with-claude/extended-thinking"
)
WARM = (
    "`temperature` may only be set to 1 when thinking is enabled or in adaptive mode. Please consult our documentation "
    "at https://docs.claude.com/en/docs/build-with-claude/extended-thinking"
)
BOTH = "`temperature` and `top_p` cannot both be specified for this model. Please use only one."
COOL = "`temperature` is deprecated for this model."
NO_BUDGET = (
    '"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive" and "output_config.effort" '
    "to control thinking behavior."
)
OLDER = (
    Lesson("output_config.effort", NO_EFFORT, known=True),
    Lesson("temperature", HOT, unless=1, beside="thinking.budget_tokens", known=True),
    Lesson("top_p", BOTH, beside="temperature", known=True),
)
BETWEEN = (
    Lesson("temperature", WARM, unless=1, beside="thinking", known=True),
    Lesson("top_p", BOTH, beside="temperature", known=True),
)
NEWER = (
    Lesson("temperature", COOL, unless=1, known=True),
    Lesson("thinking.budget_tokens", NO_BUDGET, known=True),
)
ENDINGS: Endings = {
    "end_turn": "whole",
    "stop_sequence": "whole",
    "tool_use": "calls",
    "max_tokens": "cut",
    "model_context_window_exceeded": "cut",
    "pause_turn": "paused",
    "refusal": "refused",
}

ANTHROPIC_BUDGET = Dialect(
    "Anthropic, up to Claude 4.5",
    "claude-sonnet-4-5",
    "litellm",
    AnthropicMessages(most_output=64_000),
    provider="anthropic",
    lessons=OLDER,
    endings=ENDINGS,
)
ANTHROPIC_EITHER = Dialect(
    "Anthropic, Claude 4.6",
    "claude-sonnet-4-6",
    "litellm",
    AnthropicMessages(most_output=128_000, adaptive=True, shows=True, efforts=("low", "medium", "high", "max")),
    provider="anthropic",
    lessons=BETWEEN,
    endings=ENDINGS,
)
ANTHROPIC_ADAPTIVE = Dialect(
    "Anthropic, from Claude 4.7",
    "claude-opus-4-8",
    "litellm",
    AnthropicMessages(most_output=128_000, adaptive=True),
    provider="anthropic",
    lessons=NEWER,
    endings=ENDINGS,
)
ANTHROPIC_BOUND = Dialect(
    "Anthropic, from Claude Fable 5.1",
    "claude-fable-5-1",
    "litellm",
    AnthropicMessages(most_output=128_000, adaptive=True, always=True, binds=True),
    provider="anthropic",
    lessons=NEWER,
    endings=ENDINGS,
)
