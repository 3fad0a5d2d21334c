"""Common parts of the Web API methods: looking up conversations and messages, with Slack's errors."""

from parley.testing.emulators.slack_params import Content
from parley.testing.emulators.slack_state import Message, Room
from parley.testing.emulators.slack_wire import Json, SlackError
from parley.testing.emulators.slack_world import World

MOST_TEXT = 40_000
MOST_MARKDOWN = 12_000


class MethodGroup:
    """A group of methods. Each takes validated arguments and returns the fields beside `"ok": true`."""

    def __init__(self, world: World) -> None:
        self.world = world

    def room(self, room_id: str) -> Room:
        """Return a conversation that the bot can see. Raises SlackError."""
        room = self.world.rooms.get(room_id)
        if room is None or (not room.bot_in and room.kind != "channel"):
            raise SlackError("channel_not_found")
        return room

    def joined(self, room_id: str) -> Room:
        room = self.room(room_id)
        if not room.bot_in:
            raise SlackError("not_in_channel")
        return room

    def writable(self, room_id: str) -> Room:
        room = self.joined(room_id)
        if room.archived:
            raise SlackError("is_archived")
        return room

    def destination(self, channel: str) -> Room:
        """Return the conversation for a post; a user id stands for the private chat with that user."""
        return self.writable(self.world.private_rooms[channel].id if channel in self.world.private_rooms else channel)

    def message(self, room: Room, ts: str) -> Message:
        message = room.messages.get(ts)
        if message is None or message.deleted:
            raise SlackError("message_not_found")
        return message

    def own(self, room: Room, ts: str, error: str) -> Message:
        message = self.message(room, ts)
        if message.sender != self.world.bot:
            raise SlackError(error)
        return message

    def is_streaming(self, message: Message) -> bool:
        return message.stream is not None and message.stream.is_open(self.world.clock())

    def root(self, room: Room, thread_ts: str | None) -> Message | None:
        """Return the root message of a thread; a reply belongs to the thread it is in."""
        if thread_ts is None:
            return None
        found = room.messages.get(thread_ts)
        if found is None:
            raise SlackError("thread_not_found")
        return found.reply_to or found

    def fill(self, message: Message, asked: Content) -> None:
        """Set validated content; a SlackError leaves the message unchanged."""
        text, blocks = asked.text or "", self.named(asked.blocks)
        if asked.markdown_text is not None:
            if text or blocks:
                raise SlackError("markdown_text_conflict")
            if len(asked.markdown_text) > MOST_MARKDOWN:
                raise SlackError("msg_too_long")
            text, blocks = asked.markdown_text, self.named([{"type": "markdown", "text": asked.markdown_text}])
        if not text and not blocks and not asked.attachments:
            raise SlackError("no_text")
        if len(text) > MOST_TEXT:
            raise SlackError("msg_too_long")
        message.source, message.blocks = text, blocks
        if asked.attachments is not None:
            message.attachments = asked.attachments

    def named(self, blocks: list[Json] | None) -> list[Json]:
        """Add ids to blocks and buttons without one, as Slack does."""
        return [{"block_id": f"b{next(self.world.numbers)}", **block} for block in blocks or []]
