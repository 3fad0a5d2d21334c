"""Table of Web API methods: parameters, implementation and required scope."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from parley.testing.emulators import slack_params as params
from parley.testing.emulators.slack_assistant import Assistants
from parley.testing.emulators.slack_conversations import Conversations
from parley.testing.emulators.slack_files import Files
from parley.testing.emulators.slack_messages import Messages
from parley.testing.emulators.slack_params import Fields, MethodParams
from parley.testing.emulators.slack_sessions import Sessions
from parley.testing.emulators.slack_state import TEAM
from parley.testing.emulators.slack_streams import Streams
from parley.testing.emulators.slack_views import Views
from parley.testing.emulators.slack_wire import Json
from parley.testing.emulators.slack_world import SCOPE_WORD, World

_P = TypeVar("_P", bound=MethodParams)


@dataclass(frozen=True)
class Method:
    run: Callable[[Fields], Json]
    scope: str = ""
    """`*:read` stands for `channels:read`, `im:read`, ... by the kind of the conversation; `a|b` for either."""


def _method(model: type[_P], run: Callable[[_P], Json], scope: str = "") -> Method:
    return Method(lambda fields: run(model.model_validate(fields)), scope)


def all_methods(world: World, files: Files) -> dict[str, Method]:
    return {
        **_message_methods(world),
        **_stream_methods(world),
        **_conversation_methods(world),
        **_people_methods(world),
        **_file_methods(files),
    }


def _message_methods(world: World) -> dict[str, Method]:
    messages = Messages(world)
    return {
        "chat.postMessage": _method(params.PostMessage, messages.post, "chat:write"),
        "chat.postEphemeral": _method(params.PostEphemeral, messages.post_ephemeral, "chat:write"),
        "chat.update": _method(params.Update, messages.update, "chat:write"),
        "chat.delete": _method(params.OneMessage, messages.delete, "chat:write"),
        "reactions.add": _method(params.Reaction, messages.add_reaction, "reactions:write"),
        "reactions.remove": _method(params.Reaction, messages.remove_reaction, "reactions:write"),
    }


def _stream_methods(world: World) -> dict[str, Method]:
    streams, assistants, sessions, views = Streams(world), Assistants(world), Sessions(world), Views(world)
    return {
        "chat.startStream": _method(params.StartStream, streams.start, "chat:write"),
        "chat.appendStream": _method(params.AppendStream, streams.append, "chat:write"),
        "chat.stopStream": _method(params.StopStream, streams.stop, "chat:write"),
        "assistant.threads.setStatus": _method(
            params.AssistantStatus, assistants.set_status, "chat:write|assistant:write"
        ),
        "assistant.threads.setTitle": _method(params.AssistantTitle, assistants.set_title, "assistant:write"),
        "assistant.threads.setSuggestedPrompts": _method(
            params.AssistantPrompts, assistants.set_prompts, "assistant:write"
        ),
        "agents.sessions.setStatus": _method(params.SessionStatus, sessions.set_status, "chat:write"),
        "agents.sessions.rename": _method(params.SessionTitle, sessions.rename, "chat:write"),
        "views.open": _method(params.OpenView, views.open),
        "views.update": _method(params.UpdateView, views.update),
        "views.publish": _method(params.PublishView, views.publish),
    }


def _conversation_methods(world: World) -> dict[str, Method]:
    conversations = Conversations(world)
    return {
        "conversations.info": _method(params.ConversationInfo, conversations.info, "*:read"),
        "conversations.list": _method(params.ConversationList, conversations.list, "*:read"),
        "conversations.members": _method(params.Members, conversations.members, "*:read"),
        "conversations.history": _method(params.History, conversations.history, "*:history"),
        "conversations.replies": _method(params.Replies, conversations.replies, "*:history"),
        "conversations.open": _method(params.ConversationOpen, conversations.open, "im:write"),
    }


def _people_methods(world: World) -> dict[str, Method]:
    conversations = Conversations(world)
    return {
        "auth.test": _method(MethodParams, lambda _: _identity(world)),
        "users.info": _method(params.UserInfo, conversations.user, "users:read"),
        "bots.info": _method(params.BotInfo, conversations.bot, "users:read"),
        "team.info": _method(params.TeamInfo, conversations.team, "team:read"),
    }


def _file_methods(files: Files) -> dict[str, Method]:
    return {
        "files.getUploadURLExternal": _method(params.UploadUrl, files.upload_url, "files:write"),
        "files.completeUploadExternal": _method(params.CompleteUpload, files.complete, "files:write"),
        "files.info": _method(params.FileInfo, files.info, "files:read"),
    }


def needed_scopes(method: Method, world: World, fields: Fields) -> list[str]:
    """Return the scopes of which one is needed for this call; empty if none is."""
    room = world.rooms.get(str(fields.get("channel", "")))
    scope = method.scope.replace("*", SCOPE_WORD[room.kind] if room is not None else "channels")
    return scope.split("|") if scope else []


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
