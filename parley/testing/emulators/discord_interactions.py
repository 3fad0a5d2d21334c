"""Answers to commands and button presses: the callback within 3 seconds, then the webhook, valid for 15 minutes."""

from collections.abc import Callable

from parley.testing.emulators import discord_params as params
from parley.testing.emulators import discord_shapes as shapes
from parley.testing.emulators.discord_components import check_modal
from parley.testing.emulators.discord_messages import UNKNOWN_MESSAGE, Pen
from parley.testing.emulators.discord_params import DiscordError, MessageParams
from parley.testing.emulators.discord_rest import NOTHING, Answer, Asked
from parley.testing.emulators.discord_state import (
    COMMAND_ANSWER,
    COMPLETION,
    COMPONENTS_V2,
    EPHEMERAL,
    LOADING,
    SUBMISSION,
    Action,
    Form,
    Interaction,
    Json,
    Message,
)

FIRST_ANSWER_SECONDS = 3.0
TOKEN_SECONDS = 900.0
MAX_ELSEWHERE = 5
"""Further answers to an interaction in a place where the bot is not."""
SAY, DEFER, DEFER_UPDATE, UPDATE = 4, 5, 6, 7
_BUTTON = 3


class InteractionApi:
    """Implementation of the calls. Each method returns Discord's response or raises DiscordError."""

    def __init__(
        self, pen: Pen, violate: Callable[[str], None], check: Callable[[str, params.AllowedMentions | None], None]
    ) -> None:
        self._pen = pen
        self._world = pen.world
        self._events = pen.events
        self._violate = violate
        self._check_mentions = check

    def callback(self, asked: Asked) -> Answer:
        wanted = asked.read(params.Callback)
        interaction = self._world.interactions.get(asked.match["token"])
        late = interaction is not None and self._world.clock() - interaction.at > FIRST_ANSWER_SECONDS
        if interaction is None or interaction.id != asked.match["interaction"]:
            raise DiscordError(404, 10062, "Unknown interaction")
        if interaction.answered:
            raise DiscordError(400, 40060, "Interaction has already been acknowledged.")
        if late:
            raise DiscordError(404, 10062, "Unknown interaction")
        message = self._first_answer(interaction, wanted, asked)
        interaction.answered = True
        self._world.touch(interaction.channel)
        if asked.query.get("with_response") not in ("1", "true", "True"):
            return NOTHING
        return Answer(self._told(interaction, wanted.type, message))

    def _first_answer(self, interaction: Interaction, wanted: params.Callback, asked: Asked) -> Message | None:
        match wanted.type:
            case 4:
                body = self._body(wanted)
                self._check_mentions("POST interaction", body.allowed_mentions)
                return self._say(interaction, body, asked)
            case 5:
                flags = self._body(wanted).flags or 0
                interaction.ephemeral = bool(flags & EPHEMERAL)
                interaction.channel.actions.append(Action("thinking", self._world.clock()))
                return self._write(interaction, MessageParams(flags=flags & EPHEMERAL), asked, LOADING)
            case 8:
                if interaction.kind != COMPLETION or wanted.data is None or wanted.data.choices is None:
                    raise DiscordError(400, 50035, "Invalid Form Body")
                interaction.choices = [{"name": each.name, "value": each.value} for each in wanted.data.choices]
                return None
            case _ if interaction.kind == COMPLETION:
                raise DiscordError(400, 50035, "Invalid Form Body")
            case 9:
                self._open_form(interaction, self._body(wanted))
                return None
            case 6 | 7 if interaction.kind != _BUTTON or interaction.message is None:
                raise DiscordError(400, 50035, "Invalid Form Body")
            case 7:
                interaction.original = interaction.message
                self._pen.change(interaction.message, self._body(wanted), asked.uploads)
                return interaction.message
            case _:
                interaction.original = interaction.message
                return None

    def _open_form(self, interaction: Interaction, wanted: params.CallbackMessage) -> None:
        """Open a modal on the client of the user, who closes or submits it."""
        if interaction.kind == SUBMISSION:
            raise DiscordError(400, 50035, "Invalid Form Body")
        check_modal(wanted.title, wanted.custom_id, wanted.components or [])
        form = Form(
            interaction.person, wanted.title or "", wanted.custom_id or "", wanted.components or [], interaction
        )
        interaction.channel.forms.append(form)

    def _body(self, wanted: params.Callback) -> params.CallbackMessage:
        return params.CallbackMessage() if wanted.data is None else wanted.data

    def _say(self, interaction: Interaction, wanted: MessageParams, asked: Asked) -> Message:
        self._pen.check(interaction.channel, wanted, asked.uploads)
        self._pen.check_not_empty(wanted, asked.uploads)
        return self._write(interaction, wanted, asked)

    def _write(self, interaction: Interaction, wanted: MessageParams, asked: Asked, flags: int = 0) -> Message:
        """Write a message through the interaction, for which the bot needs no permission."""
        message = self._pen.new(interaction.channel, wanted, asked.uploads)
        message.flags |= flags
        message.webhook_id, message.interaction = self._world.bot.id, interaction
        if interaction.kind == _BUTTON:
            message.reference = interaction.message
        message.kind = COMMAND_ANSWER if interaction.kind not in (_BUTTON, SUBMISSION) else 0
        if interaction.original is None:
            interaction.original = message
        self._events.message_made(message)
        self._world.touch(interaction.channel)
        return message

    def _told(self, interaction: Interaction, kind: int, message: Message | None) -> Json:
        about: Json = {"id": interaction.id, "type": interaction.kind}
        resource: Json = {"type": kind}
        if message is not None:
            about["response_message_id"] = message.id
            about["response_message_loading"] = message.loading
            about["response_message_ephemeral"] = message.ephemeral
            if kind in (SAY, UPDATE):
                resource["message"] = shapes.message(self._world, message)
        return {"interaction": about, "resource": resource}

    # Webhook

    def _live(self, asked: Asked) -> Interaction:
        found = self._world.interactions.get(asked.match["token"])
        if asked.match["application"] != self._world.bot.id:
            raise DiscordError(404, 10015, "Unknown Webhook")
        if found is None or self._world.clock() - found.at > TOKEN_SECONDS:
            raise DiscordError(401, 50027, "Invalid Webhook Token")
        if not found.answered:
            raise DiscordError(404, 10015, "Unknown Webhook")
        return found

    def _message(self, asked: Asked, interaction: Interaction) -> Message:
        number = asked.match.get("message", "@original")
        found = interaction.channel.messages.get(number) if number != "@original" else interaction.original
        by_it = found is not None and (found.interaction is interaction or found is interaction.original)
        if found is None or found.deleted or not by_it:
            raise UNKNOWN_MESSAGE
        return found

    def get_answer(self, asked: Asked) -> Answer:
        message = self._message(asked, self._live(asked))
        return Answer(shapes.message(self._world, message))

    def patch_answer(self, asked: Asked) -> Answer:
        message = self._message(asked, self._live(asked))
        self._pen.change(message, asked.read(params.PatchMessage), asked.uploads)
        return Answer(shapes.message(self._world, message))

    def delete_answer(self, asked: Asked) -> Answer:
        self._pen.remove(self._message(asked, self._live(asked)))
        return NOTHING

    def follow_up(self, asked: Asked) -> Answer:
        """Send a further answer; the first one after a deferral replaces the placeholder, as on Discord."""
        interaction = self._live(asked)
        wanted = asked.read(params.PostMessage)
        self._check_mentions("POST followup", wanted.allowed_mentions)
        self._pen.check(interaction.channel, wanted, asked.uploads)
        self._pen.check_not_empty(wanted, asked.uploads)
        original = interaction.original
        if original is not None and original.loading:
            self._pen.change(
                original,
                wanted.model_copy(update={"flags": (wanted.flags or 0) & COMPONENTS_V2 or None}),
                asked.uploads,
            )
            message = original
        else:
            interaction.follow_ups += 1
            if interaction.follow_ups > MAX_ELSEWHERE and "0" not in interaction.owners:
                raise DiscordError(400, 40094, "This interaction has reached the maximum number of follow-up messages")
            message = self._say(interaction, wanted, asked)
        if asked.query.get("wait") not in ("1", "true", "True"):
            return NOTHING
        return Answer(shapes.message(self._world, message))
