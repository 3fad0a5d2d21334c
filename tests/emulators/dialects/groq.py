"""Groq: hands out `reasoning` and knows no `reasoning_content`.

The sentence is that of janhq/jan issue 8136.
"""

from tests.emulators.dialects.dialect import Dialect
from tests.emulators.dialects.endings import LOCAL_ENDINGS
from tests.emulators.dialects.openai_chat import OpenAiChat
from tests.emulators.dialects.rules import forbids

UNKNOWN = (
    "'messages.{0}' : for 'role:assistant' the following must be satisfied"
    "[('messages.{0}' : property '{1}' is unsupported)]"
)

GROQ = Dialect(
    "Groq",
    "openai/gpt-oss-120b",
    "own",
    OpenAiChat(
        path="/openai/v1",
        reasoning_in="reasoning",
        parameters=frozenset({"reasoning_format", "include_reasoning"}),
        rules=(forbids(("reasoning_content", "reasoning_details", "extra_content"), UNKNOWN),),
    ),
    provider="groq",
    endings=LOCAL_ENDINGS,
)
