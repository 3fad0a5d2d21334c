"""The greeting of /start, and requests to try."""

from collections.abc import Mapping, Sequence

from gateway.texts.say import Language

TEXTS = {
    "welcome_hello": {
        "en": "Hello, I am {name}. Write to me as you would to a colleague; {slash}help lists what else I understand.",
        "zh": "您好，我是 {name}。像和同事说话一样给我发消息即可；{slash}help 列出其他命令。",
    },
}
EXAMPLES: Mapping[Language, Sequence[str]] = {
    "en": (
        "What time is it in Tokyo?",
        "What is 17 * 23?",
        "Remind me in 5 minutes to stretch",
        "Book a flight to Tokyo",
    ),
    "zh": ("东京现在几点？", "17 * 23 等于多少？", "5分钟后提醒我活动一下", "我想订一张去东京的机票"),
}
"""Requests that every model can handle with the built-in tools and skills."""
