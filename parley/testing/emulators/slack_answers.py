"""Answers to commands and presses: to the `response_url`, or with the acknowledgement."""

from collections.abc import Callable

from pydantic import ValidationError

from parley.testing.emulators.slack_blocks import check_blocks
from parley.testing.emulators.slack_params import Objects, Params
from parley.testing.emulators.slack_state import Message, Person, Room
from parley.testing.emulators.slack_wire import Json, SlackError
from parley.testing.emulators.slack_world import ResponseUrl, World


class Answer(Params):
    text: str | None = None
    blocks: Objects = None
    attachments: Objects = None
    response_type: str = "ephemeral"
    replace_original: bool = False
    delete_original: bool = False
    thread_ts: str | None = None
    mrkdwn: bool = True
    unfurl_links: bool = True
    unfurl_media: bool = True
    metadata: Json | None = None


def respond(world: World, url: ResponseUrl, body: Json) -> None:
    """Show an answer. Raises SlackError, or ValidationError for unknown fields."""
    asked = Answer.model_validate(body)
    original = url.message
    if asked.delete_original and original is not None:
        world.delete(url.room, original)
        return
    if not asked.text and not asked.blocks and not asked.attachments:
        raise SlackError("no_text")
    check_blocks(asked.blocks or [])
    if asked.replace_original and original is not None:
        before = original.to_json(with_metadata=True)
        _fill(original, asked)
        original.edited = {"user": world.bot.id, "ts": world.ts()}
        world.change(url.room, original, before)
        return
    message = Message(world.ts(), world.bot, url.room.id, world.clock())
    if asked.thread_ts is not None:
        message.reply_to = url.room.messages.get(asked.thread_ts)
    if asked.response_type != "in_channel":
        message.ephemeral_to = url.person.id
    _fill(message, asked)
    world.post(url.room, message)


def answers_of(world: World, room: Room, person: Person) -> Callable[[Json], None]:
    """Return a handler for answers within an acknowledgement; invalid ones are ignored."""

    def take(body: Json) -> None:
        if not body:
            return
        try:
            respond(world, ResponseUrl(room, person, world.clock() + 1), body)
        except (SlackError, ValidationError) as error:
            room.notices.append(f"the answer cannot be shown: {error}")
            world.touch(room)

    return take


def _fill(message: Message, asked: Answer) -> None:
    message.source = asked.text or ""
    message.blocks = asked.blocks or []
    message.attachments = asked.attachments or []
