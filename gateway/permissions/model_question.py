"""Texts of the model's own questions to people, and of their answers."""

from collections.abc import Iterable

from msgspec import Struct

from channels.base import Button, OutboundMessage
from channels.buttons import Entry
from channels.text import literal, visible
from gateway.permissions import question_text
from gateway.permissions.question_text import one_line, shown
from gateway.store.question import Question, QuestionState
from gateway.texts.say import language_of, say

MOST_LABEL = 30
"""Characters of a choice that fit on a button. If one is longer, all are listed in the text."""
MOST_ANSWER = 200
"""Characters of an answer in the line that closes the question."""
MOST_NAME = 40


class OfModel(Struct, frozen=True):
    """A question of the model."""

    call: str
    """The call that asks it, with the model's answer that contains it, as ids of calls repeat in a conversation."""
    text: str
    choices: str
    """A JSON list."""


def cleaned(choices: Iterable[str]) -> list[str]:
    """Return the choices that people can tell apart, each in one line."""
    return list(dict.fromkeys(" ".join(each.split()) for each in choices if visible(each)))


def model_question(question: Question, *, in_group: bool) -> OutboundMessage:
    """Return the question with a button for each choice. People may also answer in their own words."""
    language = language_of(question.language, "en")
    options = question.options
    is_listed = any(len(option) > MOST_LABEL for option in options)
    listed = "\n".join(f"{number}. {literal(each)}" for number, each in enumerate(options, start=1))
    minutes = round((question.expires_at - question.asked_at) / 60)
    how = say("asked_in_group" if in_group else "asked_in_private", language, minutes=minutes)
    rows = tuple(
        (Button(label=_label(number, option, is_listed=is_listed), action=f"/answer {question.id} {number}"),)
        for number, option in enumerate(options, start=1)
    )
    text = "\n\n".join(filter(None, (question.what, listed if is_listed else "", f"_{how}_")))
    own = Entry(label=say("asked_own_words", language), action=f"/answer {question.id}")
    return OutboundMessage(markdown=text, buttons=rows, form=own)


def closing_line(question: Question, name: str = "", *, changed: bool = False) -> OutboundMessage:
    """Return what replaces a question or an approval question that is closed; see `question_text.closing_line`."""
    if not question.is_of_model:
        return question_text.closing_line(question, name, changed=changed)
    language = language_of(question.language, "en")
    if question.state in (QuestionState.APPROVED, QuestionState.USED):
        who = literal(one_line(shown(name), MOST_NAME)) or say("ask_somebody", language)
        answer = literal(one_line(shown(question.answer), MOST_ANSWER))
        end = say("asked_answered", language, name=who, answer=answer)
    else:
        end = say("asked_expired" if question.state is QuestionState.EXPIRED else "asked_withdrawn", language)
    return OutboundMessage(markdown=f"{question.what}\n\n{end}")


def _label(number: int, option: str, *, is_listed: bool) -> str:
    return f"{number}. {one_line(option, MOST_LABEL)}" if is_listed else option
