"""Claude at Anthropic's address for OpenAI's chat protocol: most fields are ignored there, and no thoughts are told.

What is taken and what is ignored is that of platform.claude.com/docs/en/api/openai-sdk; the sentences are those of
Anthropic's own protocol, into which such requests are translated.
"""

import re

from tests.emulators.dialects.dialect import Dialect
from tests.emulators.dialects.endings import LOCAL_ENDINGS
from tests.emulators.dialects.openai_chat import Handed, OpenAiChat, assistant_calls, messages_of
from tests.emulators.dialects.rules import ends_with_a_question, sound_tools
from tests.emulators.model_script import Json

EMPTY = "messages: text content blocks must be non-empty"
NO_ID = "messages.{}.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'"
_ID = re.compile("[a-zA-Z0-9_-]+")


def has_words(body: Json, handed: Handed) -> str | None:
    """Refuse messages without content, unless they call tools."""
    for message in messages_of(body):
        content = message.get("content")
        texts = [part.get("text") for part in content if isinstance(part, dict)] if isinstance(content, list) else []
        if "" in texts or (not content and not message.get("tool_calls")):
            return EMPTY
    return None


def fit_ids(body: Json, handed: Handed) -> str | None:
    """Refuse ids of calls with other characters than those of Anthropic's."""
    for place, _, calls in assistant_calls(body):
        if not all(_ID.fullmatch(str(call.get("id"))) for call in calls):
            return NO_ID.format(place)
    return None


ANTHROPIC_CHAT = Dialect(
    "Anthropic, OpenAI-compatible address",
    "claude-sonnet-4-6",
    "own",
    OpenAiChat(
        call_id=lambda number: f"toolu_{number:024d}",
        parameters=frozenset({"thinking"}),
        rules=(sound_tools, has_words, fit_ids, ends_with_a_question),
    ),
    provider="claude",
    endings=LOCAL_ENDINGS,
    cannot="no words of the reasoning",
)
