"""Conversion of slash commands, button presses and the "Ask Parley" dialog to events.

Pure; `now` is the time of events to which Slack gives none.
"""

from collections.abc import Set
from typing import NamedTuple

from pydantic import BaseModel, JsonValue, ValidationError

from channels.base import Addressed, ButtonPressed, ChatKey, CommandInvoked, MessageReceived, Sender
from channels.slack.mentions import Identity, Mentions, Names, readable, standing
from channels.slack.normalise import is_direct, message_text
from channels.slack.wire import Interaction, Named, SlashCommand

ASK = "ask_parley"
"""Callback id of the message shortcut and of the dialog that it opens."""
COMMAND_ON_MESSAGE = "command_"
"""Beginning of the callback id of a message shortcut that is a command; the command's name follows."""
_BUTTONS = ("button", "feedback_buttons")
_QUESTION = "question"
_LONGEST_QUOTE = 1_500
"""Slack allows 3,000 characters of private metadata in a dialog."""


class Phrases(NamedTuple):
    thinking: str
    """Status shown after the bot's name."""
    ask_title: str
    """At most 24 characters, as for the buttons."""
    ask_what: str
    ask: str
    cancel: str
    not_asked: str
    """Told below the words in the dialog if they could not be taken in."""
    not_opened: str
    """Told to the user if Slack did not open the dialog."""
    working: str
    """Title of a plan while nothing else is told of a run."""
    used_one: str
    used_many: str
    some_failed: str
    prompts: tuple[tuple[str, str], ...]
    """Suggestions in a new conversation: title, and the message that it sends."""


ENGLISH = Phrases(
    thinking="is thinking...",
    ask_title="Ask Parley",
    ask_what="What would you like to do with this message?",
    ask="Ask",
    cancel="Cancel",
    not_asked="Parley cannot take this in at the moment. Your words are kept here: try again in a minute.",
    not_opened="Slack did not open the window, as it took too long. Please choose *Ask Parley* again.",
    working="Working",
    used_one="Used 1 tool",
    used_many="Used {count} tools",
    some_failed=", {count} failed",
    prompts=(
        ("What can you do?", "What can you do for me?"),
        ("Plan my day", "Help me plan my day."),
        ("Draft a reply", "Help me draft a reply. Ask me for anything you need to know."),
    ),
)


CHINESE = Phrases(
    thinking="正在思考…",
    ask_title="问问 Parley",
    ask_what="想对这条消息做什么？",
    ask="提问",
    cancel="取消",
    not_asked="Parley 暂时无法接收。您写的内容仍保留在此处，请一分钟后再试。",
    not_opened="由于等待时间过长，Slack 没有打开窗口。请再次选择“问问 Parley”。",
    working="处理中",
    used_one="使用了 1 个工具",
    used_many="使用了 {count} 个工具",
    some_failed="，{count} 个失败",
    prompts=(
        ("你能做什么？", "你能为我做什么？"),
        ("安排我的一天", "帮我安排今天的计划。"),
        ("起草回复", "帮我起草一条回复，需要什么信息请问我。"),
    ),
)


def phrases(language: str | None) -> Phrases:
    """Return the phrases for an IETF language tag; English by default."""
    return CHINESE if (language or "").lower().startswith("zh") else ENGLISH


class DialogMetadata(BaseModel):
    """Private metadata of the dialog: the place and the quoted message."""

    channel: str
    thread: str | None
    quoted: str
    message: str | None = None


def command_invoked(command: SlashCommand, me: Identity, names: Names, now: float) -> CommandInvoked:
    """Convert `/parley name arguments`. In a channel only the user who gave the command sees the answer."""
    direct = is_direct(command.channel_id)
    mentions = Mentions(me, names)
    name, _, arguments = readable(command.text, mentions).strip().partition(" ")
    return CommandInvoked(
        event_id=f"slack:{me.team}:{command.channel_id}:command:{command.trigger_id}",
        chat=ChatKey(platform="slack", account=me.team, chat=command.channel_id),
        sender=_person(Named(id=command.user_id, name=command.user_name), me, names),
        at=now,
        addressed=Addressed.DIRECT if direct else Addressed.MENTION,
        group=_group(Named(id=command.channel_id, name=command.channel_name)),
        named=mentions.named(command.text),
        message_id=command.trigger_id,
        name=name.lower().removeprefix("/") or "help",
        arguments=arguments.strip(),
        respond=None if direct else command.response_url or None,
        slash=None if direct else f"{command.command} ",  # outside of threads Parley ignores "!"
    )


def command_on_message(
    interaction: Interaction, me: Identity, names: Names, commands: Set[str], now: float
) -> CommandInvoked | None:
    """Convert a command chosen in the menu of a message, as if it were a reply to that message."""
    name = interaction.callback_id.removeprefix(COMMAND_ON_MESSAGE)
    channel, message = interaction.channel, interaction.message
    if name == interaction.callback_id or name not in commands or channel is None or message is None:
        return None
    direct = is_direct(channel.id)
    root = message.ts if direct and me.has_agent_view and message.user != me.user else None
    return CommandInvoked(
        event_id=f"slack:{me.team}:{channel.id}:shortcut:{interaction.trigger_id}",
        chat=ChatKey(platform="slack", account=me.team, chat=channel.id, thread=message.thread or root),
        sender=_person(interaction.user, me, names),
        at=now,
        addressed=Addressed.DIRECT if direct else Addressed.MENTION,
        group=_group(channel),
        message_id=interaction.trigger_id,
        name=name,
        respond=None if direct else interaction.response_url or None,
        reply_to=message.ts,
    )


def stop_pressed(chat: ChatKey, message: str, person: str, me: Identity, names: Names, now: float) -> CommandInvoked:
    """Convert a press of Slack's own button to stop a streamed message. It may be told twice, as one event."""
    return CommandInvoked(
        event_id=f"slack:{me.team}:{chat.chat}:stopped:{message}",
        chat=chat,
        sender=_person(Named(id=person), me, names),
        at=now,
        addressed=Addressed.DIRECT if is_direct(chat.chat) else Addressed.MENTION,
        message_id=message,
        name="stop",
    )


def pressed(interaction: Interaction, me: Identity, names: Names) -> ButtonPressed | None:
    """Convert a button press; return None for other interactions."""
    action = next((each for each in interaction.actions if each.type in _BUTTONS and each.value), None)
    where = interaction.container
    channel = where.channel_id or (interaction.channel.id if interaction.channel else "")
    if action is None or where.message_ts is None or not channel:
        return None
    thread = where.thread_ts or (interaction.message.thread_ts if interaction.message else None)
    return ButtonPressed(
        event_id=f"slack:{me.team}:{channel}:{where.message_ts}:press:{interaction.user.id}:{action.action_ts}",
        chat=ChatKey(
            platform="slack", account=me.team, chat=channel, thread=None if thread == where.message_ts else thread
        ),
        sender=_person(interaction.user, me, names),
        at=float(action.action_ts),
        addressed=Addressed.DIRECT if is_direct(channel) else Addressed.REPLY,
        group=_group(interaction.channel),
        message_id=where.message_ts,
        action=action.value,
        respond=interaction.response_url or None if where.is_ephemeral else None,
        whisper=None if is_direct(channel) else interaction.response_url or None,
    )


def question_window(interaction: Interaction, me: Identity, names: Names, phrases: Phrases) -> dict[str, JsonValue]:
    """Build the dialog that asks what to do about the message on which the shortcut was used."""
    message, channel = interaction.message, interaction.channel.id if interaction.channel else ""
    said = message_text(message, me, names).full_text[:_LONGEST_QUOTE] if message else ""
    speaker = _person(Named(id=message.user or message.bot_id, name=message.username), me, names) if message else None
    root = message.thread if message else None
    asked = DialogMetadata(
        channel=channel,
        thread=root or (None if is_direct(channel) and not me.has_agent_view else interaction.message_ts),
        quoted=f"{speaker.name}: {said}" if speaker and speaker.name else said,
        message=interaction.message_ts,
    )
    return {
        "type": "modal",
        "callback_id": ASK,
        "private_metadata": asked.model_dump_json(),
        "title": {"type": "plain_text", "text": phrases.ask_title},
        "submit": {"type": "plain_text", "text": phrases.ask},
        "close": {"type": "plain_text", "text": phrases.cancel},
        "blocks": [
            {
                "type": "input",
                "block_id": _QUESTION,
                "label": {"type": "plain_text", "text": phrases.ask_what},
                "element": {"type": "plain_text_input", "action_id": _QUESTION, "multiline": True},
            }
        ],
    }


def not_asked(person: str, names: Names) -> dict[str, JsonValue]:
    """Return the response with which Slack keeps the dialog open, its words and a sentence below them."""
    known = names(person)
    sentence = phrases(known.language if known else None).not_asked
    return {"response_action": "errors", "errors": {_QUESTION: sentence}}


def question_asked(interaction: Interaction, me: Identity, names: Names, now: float) -> MessageReceived | None:
    """Convert the submitted dialog to a message in the thread of the quoted message."""
    view = interaction.view
    if view is None or view.callback_id != ASK:
        return None
    typed = next((field.value for fields in view.state.values.values() for field in fields.values()), "")
    try:
        asked = DialogMetadata.model_validate_json(view.private_metadata)
    except ValidationError:
        return None
    return MessageReceived(
        event_id=f"slack:{me.team}:{asked.channel}:view:{view.id}",
        chat=ChatKey(platform="slack", account=me.team, chat=asked.channel, thread=asked.thread),
        sender=_person(interaction.user, me, names),
        at=now,
        addressed=Addressed.DIRECT if is_direct(asked.channel) else Addressed.MENTION,
        text=typed,
        message_id=view.id,
        reply_to=asked.message or asked.thread,
        quoted=asked.quoted or None,
    )


def _group(channel: Named | None) -> str:
    """Return the name of a channel. Slack tells it with commands and interactions, and no message has it."""
    return f"#{channel.name}" if channel is not None and channel.name and not is_direct(channel.id) else ""


def _person(named: Named, me: Identity, names: Names) -> Sender:
    known = names(named.id)
    name = known.name if known else named.name or named.username or named.id
    language, zone = (known.language, known.zone) if known else (None, None)
    return Sender(id=named.id, name=name, language=language, zone=zone, standing=standing(known, me))
