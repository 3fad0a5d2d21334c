"""The facts of a chat, as they are in its file."""

from zoneinfo import ZoneInfo

from agent_core.tools.memory import Memory
from channels.base import ChatKey
from gateway.permissions.workspaces import folder_name
from tests.gateway.bot import Bot


def memory_of(bot: Bot, chat: ChatKey) -> Memory:
    return Memory(bot.home / "memory" / folder_name(chat), bot.clock, ZoneInfo("Europe/Paris"))
