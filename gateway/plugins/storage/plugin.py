"""The storage plugin: its screen and texts."""

from collections.abc import Sequence

from gateway.admin.screen import Screen
from gateway.plugin import Plugin
from gateway.plugins.storage.screen import StorageScreen
from gateway.plugins.storage.texts import TEXTS


class Storage(Plugin):
    """The screen of storage."""

    name = "storage"
    texts = TEXTS

    def screens(self) -> Sequence[Screen]:
        return (StorageScreen(self.core),)


PLUGIN = Storage
