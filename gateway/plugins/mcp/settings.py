"""The settings of the plugin of MCP servers."""

from typing import Annotated

from gateway.settings.plugin_settings import About, PluginSettings


class McpSettings(PluginSettings):
    """The settings of the plugin of MCP servers."""

    local: Annotated[
        bool,
        About(
            en="Let owners add MCP servers of this machine, such as http://127.0.0.1:8000/mcp, in chats: on or off. "
            "Those in parley.toml may have any address.",
            zh="允许所有者在聊天中添加本机的 MCP 服务器，如 http://127.0.0.1:8000/mcp：on 或 off。"
            "parley.toml 中的服务器可以使用任何地址。",
        ),
    ] = False


SETTINGS = McpSettings
