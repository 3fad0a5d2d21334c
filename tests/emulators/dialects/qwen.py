"""Qwen at DashScope: thinks with `reasoning_content`, which need not come back."""

from tests.emulators.dialects.dialect import Dialect
from tests.emulators.dialects.endings import LOCAL_ENDINGS
from tests.emulators.dialects.openai_chat import OpenAiChat
from tests.emulators.model_script import Json


def dashscope_error(sentence: str) -> Json:
    code = "invalid_parameter_error"
    return {"error": {"code": code, "param": None, "message": f"<400> InternalError.Algo.InvalidParameter: {sentence}"}}


QWEN = Dialect(
    "Qwen (DashScope)",
    "qwen3.8-max",
    "litellm",
    OpenAiChat(
        path="/compatible-mode/v1",
        reasoning_in="reasoning_content",
        parameters=frozenset({"enable_thinking", "thinking_budget"}),
        error=dashscope_error,
    ),
    provider="dashscope",
    endings=LOCAL_ENDINGS,
)
