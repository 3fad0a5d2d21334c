"""The topics of news between nodes, see `gateway.store.signals`."""

from enum import StrEnum


class Topic(StrEnum):
    """Rows that other nodes keep in memory, or wait for."""

    PEOPLE = "people"
    STANDINGS = "standings"
    SETTINGS = "settings"
    """Settings made in chats: rules of groups, models, skills, and those of the installation."""
    BUDGETS = "budgets"
    ROOM = "room"
    """Somebody waited for room in a budget, and a call has used less than was reserved for it."""
    STRANGERS = "strangers"
    PAIRING = "pairing"
    JOBS = "jobs"
    GAPS = "gaps"
    """The gaps that a node reads; the key is the platform whose gaps were listed, or the chat that waits no more."""
    BROWSERS = "browsers"
    LINKS = "links"
    """Links that sign a browser in."""
    FILES = "files"
    """The files with the settings, which each node reads itself."""
    ERASED = "erased"
    """Words of a chat were erased; the key is the chat."""
    COMMANDS = "commands"
    """A command of a page for a chat of another node; the key is its id."""
    ANSWERS = "answers"
    """The answer to such a command."""
    SPOKEN = "spoken"
    """The bot has spoken in a chat for the first time; the key is the chat."""
