"""The hidden command /answer, which the buttons under a question of the model give."""

from channels.text import literal
from gateway.chat.replies import Answer
from gateway.commands.approvals import OVER, told_of_question
from gateway.commands.command import LONGEST_ID, Command, Invocation, whispered
from gateway.permissions.approvals import Approvals
from gateway.permissions.request import Reply, typed_id
from gateway.permissions.rights import ANSWER, always
from gateway.store.approvals import Approvals as Questions
from gateway.store.outbox import Outbox
from gateway.texts.say import say

_SENTENCES = {
    Reply.NOT_YOURS: "asked_not_yours",
    Reply.TOO_LATE: "asked_too_late",
    Reply.WAS_APPROVED: "asked_was_answered",
    Reply.WAS_WITHDRAWN: "asked_was_withdrawn",
}


class AnswerCommands:
    """The command /answer."""

    def __init__(self, approvals: Approvals, questions: Questions, outbox: Outbox) -> None:
        self._approvals = approvals
        self._questions = questions
        self._outbox = outbox

    async def answer(self, given: Invocation) -> Answer:
        """Answer a question by the number of a choice or by words. The question's own message then shows the answer."""
        question_id, _, words = given.arguments.strip().partition(" ")
        question_id = typed_id(question_id)
        question = await self._questions.find(question_id) if question_id else None
        says_something = bool(words.strip()) and not given.names.is_tainted  # anybody may take a name that says more
        if question is None or question.chat != given.chat or not (question.is_of_model and says_something):
            return whispered(given, say("asked_unknown", given.language, id=literal(question_id[:LONGEST_ID])))
        done = await self._approvals.answer(question, given.sender, question.pressed(words.strip()))
        if done is Reply.TAKEN:
            return None
        text = say(_SENTENCES[done], given.language)
        return await told_of_question(given, text, self._outbox, is_over=done in OVER)

    @property
    def commands(self) -> tuple[Command, ...]:
        return (
            Command(
                "answer",
                {"en": "Answer a question of mine", "zh": "回答我的提问"},
                self.answer,
                rights=always(ANSWER),
                arguments="ID TEXT",
                form=r"\w+",
                hidden=True,
            ),
        )
