"""Anthropic itself: models that think for a budget, newer ones that decide themselves, and the newest.

The thoughts of the newest are bound to what was sent before them, for accounts made since the end of August 2026.
"""

from tests.emulators.dialects.anthropic_messages import AnthropicMessages
from tests.emulators.dialects.dialect import Dialect

ANTHROPIC_BUDGET = Dialect(
    "Anthropic, up to Claude 4.5",
    "claude-sonnet-4-5",
    "litellm",
    AnthropicMessages(most_output=64_000),
    provider="anthropic",
)
ANTHROPIC_ADAPTIVE = Dialect(
    "Anthropic, from Claude 4.6",
    "claude-sonnet-5",
    "litellm",
    AnthropicMessages(most_output=128_000, adaptive=True),
    provider="anthropic",
)
ANTHROPIC_BOUND = Dialect(
    "Anthropic, from Claude Fable 5.1",
    "claude-fable-5-1",
    "litellm",
    AnthropicMessages(most_output=128_000, adaptive=True, binds=True),
    provider="anthropic",
)
