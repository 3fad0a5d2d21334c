"""OpenAI itself: an older model, and the models of GPT-5 and the o-series, which take no `max_tokens`.

The sentences are those of platform.openai.com, as quoted in reports of clients that sent the older parameters.
"""

from tests.emulators.dialects.dialect import Dialect
from tests.emulators.dialects.lessons import Lesson
from tests.emulators.dialects.openai_chat import OpenAiChat
from tests.emulators.dialects.rules import sound_tools
from tests.emulators.model_script import Json

LIMIT = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
HEAT = "Unsupported value: 'temperature' does not support {} with this model. Only the default (1) value is supported."


def named(sentence: str) -> Json:
    code = "unsupported_value" if "value" in sentence.partition(":")[0] else "unsupported_parameter"
    param = sentence.split("'")[1] if "'" in sentence else None
    return {"error": {"message": sentence, "type": "invalid_request_error", "param": param, "code": code}}


OPENAI = Dialect("OpenAI", "gpt-4.1", "litellm", OpenAiChat(rules=(sound_tools,)), provider="openai")
GPT_5 = Dialect(
    "OpenAI, GPT-5 and o-series",
    "gpt-5-mini",
    "litellm",
    OpenAiChat(error=named, rules=(sound_tools,)),
    provider="openai",
    lessons=(Lesson("max_tokens", LIMIT), Lesson("temperature", HEAT, unless=1)),
    cannot="no words of the reasoning; GPT-5.4 and later think without tools only",
)
