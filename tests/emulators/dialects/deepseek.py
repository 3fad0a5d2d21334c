"""DeepSeek: an answer that calls tools must come back with its `reasoning_content`, if only with an empty one.

See api-docs.deepseek.com/guides/thinking_mode; the sentence is that of earendil-works/pi issue 3636.
"""

from tests.emulators.dialects.dialect import Dialect
from tests.emulators.dialects.endings import OPENAI_ENDINGS
from tests.emulators.dialects.openai_chat import OpenAiChat
from tests.emulators.dialects.rules import wants_back
from tests.emulators.model_script import Json

MISSING = "The `reasoning_content` in the thinking mode must be passed back to the API."


def deepseek_error(sentence: str) -> Json:
    kind = "invalid_request_error"
    return {"error": {"message": sentence, "type": kind, "param": None, "code": kind}}


DEEPSEEK = Dialect(
    "DeepSeek",
    "deepseek-v4-flash",
    "litellm",
    OpenAiChat(
        reasoning_in="reasoning_content",
        parameters=frozenset({"thinking"}),
        rules=(wants_back("reasoning_content", MISSING, takes_empty=True),),
        error=deepseek_error,
    ),
    provider="deepseek",
    endings={**OPENAI_ENDINGS, "insufficient_system_resource": "broken"},
)
