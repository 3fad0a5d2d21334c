"""Texts that Slack shows outside of messages, in each language of Parley."""

from typing import NamedTuple


class Phrases(NamedTuple):
    thinking: str
    """Status shown after the bot's name."""
    ask_title: str
    """At most 24 characters, as for the buttons."""
    ask_what: str
    ask: str
    cancel: str
    prompts: tuple[tuple[str, str], ...]
    """Suggestions in a new conversation: title, and the message that it sends."""


ENGLISH = Phrases(
    thinking="is thinking...",
    ask_title="Ask Parley",
    ask_what="What about this message?",
    ask="Ask",
    cancel="Cancel",
    prompts=(
        ("What can you do?", "What can you do for me?"),
        ("Plan my day", "Help me plan my day."),
        ("Draft a reply", "Help me to draft a reply. Ask me for what you need to know."),
    ),
)
CHINESE = Phrases(
    thinking="正在思考…",
    ask_title="问问 Parley",
    ask_what="想对这条消息做什么？",
    ask="提问",
    cancel="取消",
    prompts=(
        ("你能做什么？", "你能为我做什么？"),
        ("安排我的一天", "帮我安排今天的计划。"),
        ("起草回复", "帮我起草一条回复，需要什么信息请问我。"),
    ),
)


def phrases(language: str | None) -> Phrases:
    """Return the phrases for an IETF language tag; English by default."""
    return CHINESE if (language or "").lower().startswith("zh") else ENGLISH
