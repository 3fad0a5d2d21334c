"""Web API methods that stream a message: chat.startStream, chat.appendStream, chat.stopStream.

Slack documents few of its refusals. The others are those that users of these methods have recorded.
"""

from parley.testing.emulators import slack_params as params
from parley.testing.emulators.slack_api import MOST_MARKDOWN, MethodGroup
from parley.testing.emulators.slack_blocks import MOST_TASKS, check_blocks
from parley.testing.emulators.slack_plan import rich_words
from parley.testing.emulators.slack_session import Session
from parley.testing.emulators.slack_state import Edit, Message, Room
from parley.testing.emulators.slack_stream import NOT_STREAMING, Stream
from parley.testing.emulators.slack_wire import Json, SlackError

MOST_TASK_TEXT = 256
"""Characters of a task's, or of the plan's, texts in one chunk together."""
BAD_CHUNKS = "invalid_chunks"


class Streams(MethodGroup):
    def start(self, asked: params.StartStream) -> Json:
        room = self.writable(asked.channel)
        if self.world.streams_refused:
            raise SlackError(self.world.streams_refused)
        if room.kind != "im":
            self._check_recipient(asked)
        elif asked.thread_ts is None:  # only channels have streams outside of threads
            raise SlackError("channel_type_not_supported")
        now = self.world.clock()
        message = Message(self.world.ts(), self.world.bot, room.id, now)
        message.reply_to = self.root(room, asked.thread_ts)
        idle, total = self.world.stream_seconds, self.world.stream_lifetime
        message.stream = Stream(now, now, idle, total, asked.task_display_mode == "plan")
        self._add(message, message.stream, asked)
        self._set_session(room, message, "processing")
        self.world.post(room, message)
        return {"channel": room.id, "ts": message.ts}

    def append(self, asked: params.AppendStream) -> Json:
        room, message, stream = self._streaming(asked.channel, asked.ts)
        if not asked.markdown_text and not asked.chunks:
            raise SlackError("no_text")
        self._add(message, stream, asked)
        stream.seen = self.world.clock()
        self.world.compose(message)
        message.edits.append(Edit(message.text, self.world.clock()))
        self.world.touch(room)
        return {"channel": room.id, "ts": message.ts}

    def stop(self, asked: params.StopStream) -> Json:
        check_blocks(asked.blocks or [])
        room, message, stream = self._streaming(asked.channel, asked.ts)
        before = message.to_json(with_metadata=True)
        self._add(message, stream, asked)
        message.blocks.extend(self.named(asked.blocks))
        if not message.blocks:
            raise SlackError("no_text")
        if asked.metadata is not None:
            message.metadata = asked.metadata.to_json()
        stream.ended = True
        self._set_session(room, message, asked.session_status)
        self.world.change(room, message, before)
        return {"channel": room.id, "ts": message.ts, "message": message.to_json(with_metadata=True)}

    def _set_session(self, room: Room, message: Message, status: str) -> None:
        """Set the status of the thread's session; an app that is an agent gets one by streaming."""
        if message.reply_to is not None and self.world.assistant_allowed:
            room.sessions.setdefault(message.reply_to.ts, Session(status, "")).status = status

    def _check_recipient(self, asked: params.StartStream) -> None:
        if asked.recipient_team_id is None:
            raise SlackError("missing_recipient_team_id")
        if asked.recipient_user_id is None:
            raise SlackError("missing_recipient_user_id")
        if asked.recipient_user_id not in self.world.people:
            raise SlackError("user_not_found")

    def _streaming(self, channel: str, ts: str) -> tuple[Room, Message, Stream]:
        room = self.writable(channel)
        message = self.own(room, ts, "message_not_owned_by_app")
        if message.stream is None:
            raise SlackError(NOT_STREAMING)
        if refusal := message.stream.refusal(self.world.clock()):
            raise SlackError(refusal)
        return room, message, message.stream

    def _add(self, message: Message, stream: Stream, asked: params.StreamPart) -> None:
        """Add all parts, or none of them."""
        chunks = [*(asked.chunks or [])]
        if asked.markdown_text is not None:
            chunks.insert(0, params.Chunk(type="markdown_text", text=asked.markdown_text))
        for chunk in chunks:
            _check(chunk)
        blocks, source = [dict(each) for each in message.blocks], message.source
        try:
            for chunk in chunks:
                self._add_chunk(message, stream, chunk)
            check_blocks([each for each in message.blocks if each.get("type") != "markdown"])
        except SlackError:
            message.blocks, message.source = blocks, source
            raise

    def _add_chunk(self, message: Message, stream: Stream, chunk: params.Chunk) -> None:
        if chunk.type == "markdown_text":
            message.source += chunk.text
            last = message.blocks[-1] if message.blocks else {}
            if last.get("type") == "markdown":
                message.blocks[-1] = {**last, "text": f"{last['text']}{chunk.text}"}
            elif chunk.text:
                message.blocks += self.named([{"type": "markdown", "text": chunk.text}])
        elif chunk.type == "blocks":
            message.blocks += self.named(chunk.blocks)
        elif stream.is_plan:
            self._put_in_plan(message, chunk)
        else:
            self._put_card(message, chunk)

    def _put_in_plan(self, message: Message, chunk: params.Chunk) -> None:
        """Add or update a task in the plan, or the plan's title. The plan stands above everything."""
        plan = next((each for each in message.blocks if each.get("type") == "plan"), None)
        if plan is None:
            plan = {"type": "plan", "block_id": "plan", "title": "", "tasks": []}
            message.blocks.insert(0, plan)
        if chunk.type == "plan_update":
            plan["title"] = chunk.title
            return
        found = plan["tasks"]
        tasks = list(found) if isinstance(found, list) else []
        place = next(
            (n for n, each in enumerate(tasks) if isinstance(each, dict) and each["task_id"] == chunk.id), None
        )
        known = tasks[place] if place is not None else None
        card = _card(chunk, known if isinstance(known, dict) else {})
        if place is None:
            tasks.append(card)
        else:
            tasks[place] = card
        if len(tasks) > MOST_TASKS:
            raise SlackError(BAD_CHUNKS)
        plan["tasks"] = tasks

    def _put_card(self, message: Message, chunk: params.Chunk) -> None:
        """Add or update a card or the plan's title; both keep their first position."""
        key = f"task-{chunk.id}" if chunk.type == "task_update" else "plan"
        place = next((n for n, block in enumerate(message.blocks) if block.get("block_id") == key), None)
        known = message.blocks[place] if place is not None else {}
        card: Json = {"type": "plan", "title": chunk.title} if chunk.type == "plan_update" else _card(chunk, known)
        card["block_id"] = key
        if place is None:
            message.blocks.append(card)
        else:
            message.blocks[place] = card


def _check(chunk: params.Chunk) -> None:
    """Check a chunk by itself. Raises SlackError."""
    if len(chunk.text) > MOST_MARKDOWN:
        raise SlackError("msg_too_long")
    if chunk.type == "blocks":
        check_blocks(chunk.blocks)
    if chunk.type in ("task_update", "plan_update"):
        said = (chunk.title, *(each for each in (chunk.details, chunk.output) if each is not None))
        if not chunk.title or not all(isinstance(each, str) for each in said):
            raise SlackError(BAD_CHUNKS)
        if sum(len(str(each)) for each in said) > MOST_TASK_TEXT or (chunk.type == "task_update" and not chunk.id):
            raise SlackError(BAD_CHUNKS)


def _card(chunk: params.Chunk, known: Json) -> Json:
    """Return the card of a task. Slack adds new details to those it has, with nothing between them."""
    card: Json = {"type": "task_card", "task_id": chunk.id, "title": chunk.title, "status": chunk.status}
    for name, new in (("details", chunk.details), ("output", chunk.output)):
        said = f"{rich_words(known.get(name))}{new or ''}"
        if said:
            section: Json = {"type": "rich_text_section", "elements": [{"type": "text", "text": said}]}
            card[name] = {"type": "rich_text", "elements": [section]}
    return card
