"""All dialects, in the order of the table in the documents."""

from tests.emulators.dialects.anthropic import (
    ANTHROPIC_ADAPTIVE,
    ANTHROPIC_BOUND,
    ANTHROPIC_BUDGET,
    ANTHROPIC_EITHER,
)
from tests.emulators.dialects.anthropic_chat import ANTHROPIC_CHAT
from tests.emulators.dialects.azure import AZURE, AZURE_DEPLOYMENT
from tests.emulators.dialects.deepseek import DEEPSEEK
from tests.emulators.dialects.gemini import GEMINI
from tests.emulators.dialects.gemini_native import GEMINI_2_5, GEMINI_NATIVE
from tests.emulators.dialects.groq import GROQ
from tests.emulators.dialects.local import LLAMA_CPP, LM_STUDIO, OLLAMA, TWO_ROLES, VLLM
from tests.emulators.dialects.mistral import MISTRAL
from tests.emulators.dialects.moonshot import MOONSHOT
from tests.emulators.dialects.openai import GPT_5, OPENAI
from tests.emulators.dialects.openrouter import OPENROUTER
from tests.emulators.dialects.qwen import QWEN
from tests.emulators.dialects.xai import XAI
from tests.emulators.dialects.zai import ZAI

DIALECTS = (
    OPENAI,
    GPT_5,
    AZURE,
    AZURE_DEPLOYMENT,
    ANTHROPIC_BUDGET,
    ANTHROPIC_EITHER,
    ANTHROPIC_ADAPTIVE,
    ANTHROPIC_BOUND,
    ANTHROPIC_CHAT,
    GEMINI_NATIVE,
    GEMINI_2_5,
    GEMINI,
    DEEPSEEK,
    MOONSHOT,
    OPENROUTER,
    MISTRAL,
    QWEN,
    XAI,
    ZAI,
    GROQ,
    OLLAMA,
    VLLM,
    LLAMA_CPP,
    TWO_ROLES,
    LM_STUDIO,
)
