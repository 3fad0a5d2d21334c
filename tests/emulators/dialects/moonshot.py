"""Kimi: an answer that calls tools must come back with its `reasoning_content`; an empty one counts as missing.

The sentence is that of continuedev/continue issue 11600; what it takes, of theopenco/llmgateway issue
2093; the temperature, of lobehub/lobehub issue 14122.
"""

from tests.emulators.dialects.dialect import Dialect
from tests.emulators.dialects.lessons import Lesson
from tests.emulators.dialects.openai_chat import OpenAiChat
from tests.emulators.dialects.rules import tools_for_kimi, wants_back

MISSING = "thinking is enabled but reasoning_content is missing in assistant tool call message at index {}"

MOONSHOT = Dialect(
    "Kimi (Moonshot)",
    "kimi-k2.6",
    "litellm",
    OpenAiChat(
        reasoning_in="reasoning_content",
        parameters=frozenset({"thinking"}),
        rules=(wants_back("reasoning_content", MISSING), tools_for_kimi),
    ),
    provider="moonshot",
    lessons=(Lesson("temperature", "invalid temperature: only 1 is allowed for this model", unless=1),),
)
