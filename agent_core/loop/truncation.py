"""Detection of servers that silently truncate a prompt: they count fewer tokens than the request can have.

Only the server's tokenizer knows the exact count. The request is therefore counted as if by the most economical
tokenizer, and a server is doubted only if it counts far less. Some servers count only tokens outside their cache,
little more than the latest messages; they are not doubted.
"""

from collections.abc import Sequence

from agent_core.identity_cache import IdentityCache
from agent_core.late_pattern import LatePattern
from agent_core.messages import AssistantMessage, LlmMessage, TextContent, ToolCall, Usage
from agent_core.models.llm import LlmRequest
from agent_core.models.tokens import message_tokens

DOUBTED_BELOW = 0.6
"""Fraction of the fewest tokens that the request can have."""
SMALLEST_WINDOW = 512
"""A smaller count is no truncated prompt, since no model has such a small window; the server counts something else."""
MOST_PER_GUESS = 4
"""Upper bound of real tokens per estimated token."""
WIDE_IN_A_TOKEN = 5
"""Upper bound of Chinese, Japanese or Korean characters per token, on average."""

_WIDE = "\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef"
_RUN = LatePattern(r"[A-Za-z\u00c0-\u052f]+|[0-9]+")
_WIDE_ONE = LatePattern(f"[{_WIDE}]")


def was_cut(request: LlmRequest, usage: Usage) -> bool:
    """Return True if the server's count is too low for the conversation that it was sent. Prompt and tools are ignored,
    because compaction cannot shorten them."""
    counted = usage.input + usage.cache_read + usage.cache_write
    if counted < SMALLEST_WINDOW:
        return False
    new = _since_the_last_answer(request.messages)
    if counted < DOUBTED_BELOW * sum(_fewest_of.each(new)):
        return True
    is_more_than_new = counted > SMALLEST_WINDOW + MOST_PER_GUESS * sum(map(message_tokens, new))
    return is_more_than_new and counted < DOUBTED_BELOW * sum(_fewest_of.each(request.messages))


def fewest_tokens(text: str) -> int:
    """Return the fewest tokens that the text can have.

    A tokenizer never joins two words, or a word and a number, in one token. Spaces, signs and scripts of which too
    little is known count as nothing.
    """
    wide = 0 if text.isascii() else len(_WIDE_ONE.findall(text))
    return len(_RUN.findall(text)) + wide // WIDE_IN_A_TOKEN


def _since_the_last_answer(messages: Sequence[LlmMessage]) -> Sequence[LlmMessage]:
    for place in range(len(messages), 0, -1):
        if isinstance(messages[place - 1], AssistantMessage):
            return messages[place:]
    return messages


def _fewest(message: LlmMessage) -> int:
    return sum(map(_fewest_in_part, message.content))


def _fewest_in_part(part: object) -> int:
    match part:
        case TextContent(text=text):
            return fewest_tokens(text)
        case ToolCall(arguments=arguments):
            return sum(fewest_tokens(each) for each in arguments.values() if isinstance(each, str))
        case _:
            return 0


_fewest_of = IdentityCache[LlmMessage, int](_fewest)
