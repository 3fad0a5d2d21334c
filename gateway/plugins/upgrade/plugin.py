"""The upgrade plugin. What it adds to the program is in `cli.py`; to the chats it adds nothing."""

from gateway.plugin import Plugin


class Upgrade(Plugin):
    """The command of the program `parley upgrade`."""

    name = "upgrade"


PLUGIN = Upgrade
