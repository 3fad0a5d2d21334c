"""The table of Web API methods: what each takes, who does it, and which scope it needs."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from tests.emulators import slack_params as params
from tests.emulators.slack_conversations import Conversations
from tests.emulators.slack_messages import Messages
from tests.emulators.slack_params import Fields, MethodParams
from tests.emulators.slack_state import TEAM
from tests.emulators.slack_wire import Json
from tests.emulators.slack_world import SCOPE_WORD, World

_P = TypeVar("_P", bound=MethodParams)


@dataclass(frozen=True)
class Method:
    run: Callable[[Fields], Json]
    scope: str = ""
    """`*:read` stands for `channels:read`, `im:read`..., by the kind of the conversation."""


def _method(model: type[_P], run: Callable[[_P], Json], scope: str = "") -> Method:
    return Method(lambda fields: run(model.model_validate(fields)), scope)


def all_methods(world: World) -> dict[str, Method]:
    messages, conversations = Messages(world), Conversations(world)
    return {
        "auth.test": _method(MethodParams, lambda _: _identity(world)),
        "chat.postMessage": _method(params.PostMessage, messages.post, "chat:write"),
        "chat.postEphemeral": _method(params.PostEphemeral, messages.post_ephemeral, "chat:write"),
        "chat.update": _method(params.Update, messages.update, "chat:write"),
        "chat.delete": _method(params.OneMessage, messages.delete, "chat:write"),
        "reactions.add": _method(params.Reaction, messages.add_reaction, "reactions:write"),
        "reactions.remove": _method(params.Reaction, messages.remove_reaction, "reactions:write"),
        "conversations.info": _method(params.ConversationInfo, conversations.info, "*:read"),
        "conversations.list": _method(params.ConversationList, conversations.list, "*:read"),
        "conversations.members": _method(params.Members, conversations.members, "*:read"),
        "conversations.history": _method(params.History, conversations.history, "*:history"),
        "conversations.replies": _method(params.Replies, conversations.replies, "*:history"),
        "conversations.open": _method(params.ConversationOpen, conversations.open, "im:write"),
        "users.info": _method(params.UserInfo, conversations.user, "users:read"),
        "bots.info": _method(params.BotInfo, conversations.bot, "users:read"),
        "team.info": _method(params.TeamInfo, conversations.team, "team:read"),
    }


def needed_scope(method: Method, world: World, fields: Fields) -> str:
    """The scope for this call; empty for none."""
    if not method.scope.startswith("*"):
        return method.scope
    room = world.rooms.get(str(fields.get("channel", "")))
    return method.scope.replace("*", SCOPE_WORD[room.kind] if room is not None else "channels")


def _identity(world: World) -> Json:
    return {
        "url": "https://emulated.slack.com/",
        "team": "Emulated",
        "user": world.bot.username,
        "team_id": TEAM,
        "user_id": world.bot.id,
        "bot_id": world.bot.bot_id,
        "is_enterprise_install": False,
    }
