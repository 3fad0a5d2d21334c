"""The settings of the plugin of webhooks."""

from typing import Annotated

from pydantic import Field

from gateway.settings.plugin_settings import About, PluginSettings


class HooksSettings(PluginSettings):
    """The settings of the plugin of webhooks."""

    a_minute: Annotated[
        int,
        Field(ge=1),
        About(
            en="Events that a webhook takes in a minute; further ones are answered with 429.",
            zh="每个 Webhook 每分钟接收的事件数；超出的以 429 答复。",
            chat_example="30",
        ),
    ] = 30
    a_day: Annotated[
        int,
        Field(ge=1),
        About(
            en="Events that a webhook takes in 24 hours; further ones are answered with 429.",
            zh="每个 Webhook 在 24 小时内接收的事件数；超出的以 429 答复。",
            chat_example="1000",
        ),
    ] = 1000
    runs_a_day: Annotated[
        int,
        Field(ge=0),
        About(
            en="Events in 24 hours for which the model is asked, by webhook; for further ones the chat is told so.",
            zh="每个 Webhook 在 24 小时内可以询问模型的事件数；超出时会在聊天中说明。",
            chat_example="50",
        ),
    ] = 50


SETTINGS = HooksSettings
