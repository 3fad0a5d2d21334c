"""Web API methods that stream a message: chat.startStream, chat.appendStream, chat.stopStream."""

from parley.testing.emulators import slack_params as params
from parley.testing.emulators.slack_api import MOST_MARKDOWN, MethodGroup
from parley.testing.emulators.slack_blocks import check_blocks
from parley.testing.emulators.slack_state import Edit, Message, Room
from parley.testing.emulators.slack_wire import Json, SlackError

NOT_STREAMING = "message_not_in_streaming_state"


class Streams(MethodGroup):
    def start(self, asked: params.StartStream) -> Json:
        room = self.writable(asked.channel)
        if room.kind != "im":
            self._check_recipient(asked)
        message = Message(self.world.ts(), self.world.bot, room.id, self.world.clock())
        message.reply_to = self.root(room, asked.thread_ts)
        self._add(message, asked)
        message.stream_seen = self.world.clock()
        self.world.post(room, message)
        return {"channel": room.id, "ts": message.ts}

    def append(self, asked: params.AppendStream) -> Json:
        room, message = self._streaming(asked.channel, asked.ts)
        if not asked.markdown_text and not asked.chunks:
            raise SlackError("no_text")
        self._add(message, asked)
        message.stream_seen = self.world.clock()
        self.world.compose(message)
        message.edits.append(Edit(message.text, self.world.clock()))
        self.world.touch(room)
        return {"channel": room.id, "ts": message.ts}

    def stop(self, asked: params.StopStream) -> Json:
        check_blocks(asked.blocks or [])
        room, message = self._streaming(asked.channel, asked.ts)
        before = message.to_json(with_metadata=True)
        self._add(message, asked)
        message.blocks.extend(self.named(asked.blocks))
        if not message.blocks:
            raise SlackError("no_text")
        if asked.metadata is not None:
            message.metadata = asked.metadata.to_json()
        message.stream_seen = None
        self.world.change(room, message, before)
        return {"channel": room.id, "ts": message.ts, "message": message.to_json(with_metadata=True)}

    def _check_recipient(self, asked: params.StartStream) -> None:
        if asked.recipient_team_id is None:
            raise SlackError("missing_recipient_team_id")
        if asked.recipient_user_id is None:
            raise SlackError("missing_recipient_user_id")
        if asked.recipient_user_id not in self.world.people:
            raise SlackError("user_not_found")

    def _streaming(self, channel: str, ts: str) -> tuple[Room, Message]:
        room = self.writable(channel)
        message = self.message(room, ts)
        seen = message.stream_seen
        if seen is not None and self.world.clock() - seen > self.world.stream_seconds:
            # Nothing was appended for too long: the message stays as it is and accepts nothing more.
            message.stream_seen = seen = None
        if seen is None:
            raise SlackError(NOT_STREAMING)
        return room, message

    def _add(self, message: Message, asked: params.StreamPart) -> None:
        chunks = [*(asked.chunks or [])]
        if asked.markdown_text is not None:
            chunks.insert(0, params.Chunk(type="markdown_text", text=asked.markdown_text))
        for chunk in chunks:
            if len(chunk.text) > MOST_MARKDOWN:
                raise SlackError("msg_too_long")
            check_blocks(chunk.blocks)
        for chunk in chunks:
            self._add_chunk(message, chunk)

    def _add_chunk(self, message: Message, chunk: params.Chunk) -> None:
        if chunk.type == "markdown_text":
            message.source += chunk.text
            last = message.blocks[-1] if message.blocks else {}
            if last.get("type") == "markdown":
                message.blocks[-1] = {**last, "text": f"{last['text']}{chunk.text}"}
            else:
                message.blocks += self.named([{"type": "markdown", "text": chunk.text}])
        elif chunk.type == "blocks":
            message.blocks += self.named(chunk.blocks)
        else:
            self._put(message, chunk)

    def _put(self, message: Message, chunk: params.Chunk) -> None:
        """Add or update a task or the plan; both keep their first position."""
        key = f"task-{chunk.id}" if chunk.type == "task_update" else "plan"
        card: Json = {"type": "task_card", "block_id": key, "task_id": chunk.id, "title": chunk.title}
        if chunk.type == "plan_update":
            card = {"type": "plan", "block_id": key, "title": chunk.title}
        else:
            card["status"] = chunk.status
        for index, block in enumerate(message.blocks):
            if block.get("block_id") == key:
                message.blocks[index] = card
                return
        message.blocks.append(card)
