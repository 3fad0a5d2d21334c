"""The replay plugin. What it adds to the program is in `cli.py`; to the chats it adds nothing."""

from gateway.plugin import Plugin


class Replay(Plugin):
    """The command of the program `parley replay`."""

    name = "replay"


PLUGIN = Replay
