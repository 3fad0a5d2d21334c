"""The level that a command sets something for: here, in the channel, in the workspace, or everywhere."""

from msgspec import Struct

from channels.base import ChatKey
from gateway.commands.command import Invocation
from gateway.permissions.rights import OTHERWISE
from gateway.store.chat_settings import Level, Place, places
from gateway.texts.say import Language, say

WORDS = {
    "here": "here",
    "channel": "channel",
    "workspace": "workspace",
    "everywhere": "everywhere",
    "这里": "here",
    "频道": "channel",
    "工作区": "workspace",
    "所有聊天": "everywhere",
}
WIDE = "wide"
"""The form of arguments that name a level wider than one chat."""
DEFAULT = ("default", "reset", "默认", "重置")
"""Words that remove what is set."""

_TEXTS = {
    Level.THREAD: "level_thread",
    Level.CHANNEL: "level_channel",
    Level.WORKSPACE: "level_workspace",
    Level.INSTALLATION: "level_installation",
}


class Aimed(Struct, frozen=True):
    """A command's other words, and the place that it sets something for."""

    words: str
    place: Place


def aimed(given: Invocation) -> Aimed:
    """Split the level off a command's arguments. Without one it is the thread, or the channel outside of threads."""
    rest, _, last = given.arguments.strip().rpartition(" ")
    word = WORDS.get(last.lower())
    return Aimed(rest.strip() if word else given.arguments.strip(), place_of(given.chat, word or "here"))


def place_of(chat: ChatKey, word: str) -> Place:
    """Return the place for one of the values of `WORDS`."""
    *near, workspace, everywhere = places(chat)
    return {"here": near[0], "channel": near[-1], "workspace": workspace, "everywhere": everywhere}[word]


def level_form(arguments: str) -> str:
    """Return the form of a command's arguments: WIDE, or empty without any, else OTHERWISE."""
    word = WORDS.get(arguments.strip().rpartition(" ")[2].lower())
    return WIDE if word in ("workspace", "everywhere") else OTHERWISE if arguments.strip() else ""


def level_words(place: Place, language: Language) -> str:
    """Return the level in words, such as "in this channel and its threads"."""
    return say(_TEXTS[place.level], language)
