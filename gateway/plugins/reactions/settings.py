"""The settings of the plugin of reactions."""

from typing import Annotated

from gateway.settings.plugin_settings import About, PluginSettings


class ReactionsSettings(PluginSettings):
    """The settings of the plugin of reactions."""

    on: Annotated[
        bool,
        About(
            en="Reactions on your messages that show what becomes of them, on Telegram, Slack and Discord: on or off.",
            zh="在 Telegram、Slack 和 Discord 上，用表情回应显示您的消息处理到哪一步：on 或 off。",
            formerly=("reactions",),
            chat_example="on",
        ),
    ] = False


SETTINGS = ReactionsSettings
