"""Web API methods that write messages: chat.* and reactions.*."""

import html

from parley.testing.emulators import slack_params as params
from parley.testing.emulators.slack_api import MethodGroup
from parley.testing.emulators.slack_blocks import check_blocks
from parley.testing.emulators.slack_state import Message
from parley.testing.emulators.slack_wire import Json, SlackError

MOST_EDITED_BYTES = 4000
"""Limit for the `text` of an edit, far below that of new messages (gitlab-org/gitlab, merge request 258898)."""


class Messages(MethodGroup):
    def post(self, asked: params.PostMessage) -> Json:
        check_blocks(asked.blocks or [])
        room = self.destination(asked.channel)
        message = Message(self.world.ts(), self.world.bot, room.id, self.world.clock())
        message.reply_to = self.root(room, asked.thread_ts)
        message.broadcast = asked.reply_broadcast and message.reply_to is not None
        if message.broadcast:
            message.subtype = "thread_broadcast"
        message.client_msg_id = asked.client_msg_id or ""
        if asked.metadata is not None:
            message.metadata = asked.metadata.to_json()
        self.fill(message, asked)
        self.world.post(room, message)
        return {"channel": room.id, "ts": message.ts, "message": message.to_json(with_metadata=True)}

    def post_ephemeral(self, asked: params.PostEphemeral) -> Json:
        check_blocks(asked.blocks or [])
        room = self.writable(asked.channel)
        if all(each.id != asked.user for each in room.people):
            raise SlackError("user_not_in_channel")
        message = Message(self.world.ts(), self.world.bot, room.id, self.world.clock())
        message.reply_to = self.root(room, asked.thread_ts)
        message.ephemeral_to = asked.user
        self.fill(message, asked)
        self.world.post(room, message)
        return {"message_ts": message.ts}

    def update(self, asked: params.Update) -> Json:
        check_blocks(asked.blocks or [])
        room = self.joined(asked.channel)
        if room.archived:
            raise SlackError("is_inactive")
        message = self.own(room, asked.ts, "cant_update_message")
        if len(html.escape(html.unescape(asked.text or ""), quote=False).encode()) > MOST_EDITED_BYTES:
            raise SlackError("msg_too_long")
        if self.is_streaming(message):
            raise SlackError("streaming_state_conflict")
        before = message.to_json(with_metadata=True)
        self.fill(message, asked)
        if asked.metadata is not None:
            message.metadata = asked.metadata.to_json()
        message.edited = {"user": self.world.bot.id, "ts": self.world.ts()}
        self.world.change(room, message, before)
        return {"channel": room.id, "ts": message.ts, "text": message.source, "message": message.to_json()}

    def delete(self, asked: params.OneMessage) -> Json:
        room = self.writable(asked.channel)
        message = self.own(room, asked.ts, "cant_delete_message")
        if self.is_streaming(message):
            raise SlackError("cant_delete_message")
        self.world.delete(room, message)
        return {"channel": room.id, "ts": message.ts}

    def add_reaction(self, asked: params.Reaction) -> Json:
        room = self.writable(asked.channel)
        message = self.message(room, asked.timestamp)
        users = message.reactions.setdefault(asked.name, [])
        if self.world.bot.id in users:
            raise SlackError("already_reacted")
        users.append(self.world.bot.id)
        self.world.act(room, "reaction", (message.reply_to or message).ts, asked.name)
        self._tell("reaction_added", asked, message)
        return {}

    def remove_reaction(self, asked: params.Reaction) -> Json:
        room = self.writable(asked.channel)
        message = self.message(room, asked.timestamp)
        users = message.reactions.get(asked.name, [])
        if self.world.bot.id not in users:
            raise SlackError("no_reaction")
        users.remove(self.world.bot.id)
        if not users:
            del message.reactions[asked.name]
        self.world.act(room, "reaction removed", (message.reply_to or message).ts, asked.name)
        self._tell("reaction_removed", asked, message)
        return {}

    def _tell(self, name: str, asked: params.Reaction, message: Message) -> None:
        item: Json = {"type": "message", "channel": asked.channel, "ts": message.ts}
        event: Json = {"type": name, "user": self.world.bot.id, "reaction": asked.name, "item": item}
        event.update(item_user=message.sender.id, event_ts=self.world.ts())
        self.world.tell(name, event, self.world.rooms[asked.channel])
