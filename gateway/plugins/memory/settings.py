"""The settings of the memory plugin."""

from typing import Annotated

from gateway.settings.plugin_settings import About, PluginSettings


class MemorySettings(PluginSettings):
    """The settings of the memory plugin."""

    shared: Annotated[
        bool,
        About(
            en="Memory shared by the direct chats of all owners, instead of one for each chat: on or off.",
            zh="所有所有者的私聊共用一份记忆，而不是每个聊天各有一份：on 或 off。",
            formerly=("shared_memory",),
        ),
    ] = False


SETTINGS = MemorySettings
