"""Kinds of content that cannot be read, which people and the model are told of."""

from typing import Literal

Unread = Literal[
    "story",
    "giveaway",
    "paid",
    "checklist",
    "poll",
    "game",
    "sticker",
    "activity",
    "call",
    "app",
    "file",
    "part",
    "unknown",
]
