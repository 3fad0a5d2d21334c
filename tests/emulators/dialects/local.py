"""The servers of people's own machines: Ollama, vLLM, llama.cpp and LM Studio, each with its ids and error form."""

from tests.emulators.dialects.dialect import Dialect
from tests.emulators.dialects.endings import LOCAL_ENDINGS
from tests.emulators.dialects.openai_chat import OpenAiChat
from tests.emulators.dialects.templates import NO_SYSTEM, NO_TURNS, QUOTED, NoSystem, Turns
from tests.emulators.model_script import Json


def ollama_error(sentence: str) -> Json:
    return {"error": {"message": sentence, "type": "api_error", "param": None, "code": None}}


def vllm_error(sentence: str) -> Json:
    return {"error": {"message": sentence, "type": "BadRequestError", "param": None, "code": 400}}


def llama_error(sentence: str) -> Json:
    return {"error": {"code": 400, "message": sentence, "type": "invalid_request_error"}}


def lm_studio_error(sentence: str) -> Json:
    return {"error": sentence}


OLLAMA = Dialect(
    "Ollama",
    "qwen3:8b",
    "own",
    OpenAiChat(reasoning_in="reasoning", error=ollama_error, call_id=lambda number: f"call_{number:08x}"),
    provider="ollama",
    endings=LOCAL_ENDINGS,
)
VLLM = Dialect(
    "vLLM",
    "Qwen/Qwen3-8B",
    "own",
    OpenAiChat(reasoning_in="reasoning_content", error=vllm_error, call_id=lambda number: f"call_{number:032x}"),
    provider="vllm",
    endings={**LOCAL_ENDINGS, "abort": "broken", "error": "broken"},
)
LLAMA_CPP = Dialect(
    "llama.cpp",
    "qwen3.gguf",
    "own",
    OpenAiChat(reasoning_in="reasoning_content", error=llama_error, call_id=lambda number: f"{number:032d}"),
    provider="llamacpp",
    endings=LOCAL_ENDINGS,
)
TWO_ROLES = Dialect(
    "llama.cpp, a template with two roles",
    "gemma.gguf",
    "own",
    OpenAiChat(reasoning_in="reasoning_content", error=llama_error, call_id=lambda number: f"{number:032d}"),
    provider="llamacpp",
    lessons=(NoSystem(sentence=QUOTED.format(NO_SYSTEM)), Turns(sentence=QUOTED.format(NO_TURNS))),
    endings=LOCAL_ENDINGS,
)
LM_STUDIO = Dialect(
    "LM Studio",
    "qwen3-8b",
    "own",
    OpenAiChat(reasoning_in="reasoning_content", error=lm_studio_error, call_id=lambda number: f"{number:09d}"),
    provider="lmstudio",
    endings=LOCAL_ENDINGS,
)
