"""The service plugin. What it adds to the program is in `cli.py`; to the chats it adds nothing."""

from gateway.plugin import Plugin


class SystemdUnit(Plugin):
    """The command of the program `parley service`."""

    name = "service"


PLUGIN = SystemdUnit
