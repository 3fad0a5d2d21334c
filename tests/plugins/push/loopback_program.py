"""Parley whose notifications go to push services on this machine."""

import sys

from gateway.cli import main
from gateway.plugins.push.notifications import Reach
from gateway.plugins.push.plugin import PushPlugin

LOOPBACK = Reach(lambda address, _: address.is_loopback, ("http",))

if __name__ == "__main__":
    PushPlugin.reach = LOOPBACK
    sys.exit(main())
