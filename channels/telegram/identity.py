"""The identity of a bot on Telegram."""

from typing import NamedTuple


class Identity(NamedTuple):
    """The identity of a bot."""

    id: int
    username: str
