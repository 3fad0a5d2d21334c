"""How many tokens a text is, guessed without a tokenizer: right enough to decide, also for Chinese (S0-33, D-12)."""

import math
import re
from collections.abc import Sequence

from agent_core.messages import AgentMessage, AssistantMessage

_WIDE = re.compile("[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef]")


def estimate(text: str) -> int:
    """One token for each CJK character, a quarter for any other."""
    wide = 0 if text.isascii() else len(_WIDE.findall(text))
    return wide + math.ceil((len(text) - wide) / 4)


def conversation_tokens(prefix: str, messages: Sequence[AgentMessage]) -> int:
    """Tokens of a request with this prefix (prompt and tools) and history: what the model reported last, and an
    estimate of what came since."""
    later: list[AgentMessage] = []
    for message in reversed(messages):
        if isinstance(message, AssistantMessage) and message.usage.total:
            return message.usage.total + sum(estimate(item.model_dump_json()) for item in later)
        later.append(message)
    return estimate(prefix) + sum(estimate(item.model_dump_json()) for item in later)
