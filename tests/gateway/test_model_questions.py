"""The parts of a question of the model that need no store: its choices and buttons, what words mean, and its end."""

import json

from hypothesis import example, given, settings
from hypothesis import strategies as st

from channels.base import ChatKey
from channels.text import visible
from gateway.permissions.model_question import MOST_LABEL, cleaned, closing_line, model_question
from gateway.store.question import Question, QuestionState
from tests.examples import examples

CHAT = ChatKey(platform="memory", account="here", chat="ann")
EXPIRES = 600.0
WORDS = st.one_of(
    st.sampled_from(["Tokyo", "tokyo.", "TOKYO!", "2", "1", "１", "大阪", "大阪。", "*b*", "a b", "x" * 80]),
    st.text(min_size=1, max_size=80),
)
CHOICES = st.lists(WORDS, max_size=4).map(cleaned)
ENDED = {QuestionState.APPROVED, QuestionState.USED, QuestionState.EXPIRED, QuestionState.WITHDRAWN}


def asked(choices: list[str], language: str = "en") -> Question:
    return Question(
        id="abc123",
        run="r",
        session="s",
        call="m:c",
        chat=CHAT,
        person="ann",
        tool="ask_user",
        fingerprint="f",
        what="Which?",
        language=language,
        asked_at=0.0,
        expires_at=EXPIRES,
        choices=json.dumps(choices),
    )


@settings(max_examples=examples(200), deadline=None)
@example(choices=["Tokyo", "tokyo."], language="en")
@example(choices=["2", "1"], language="zh")
@given(choices=CHOICES, language=st.sampled_from(["en", "zh"]))
def test_each_button_answers_with_its_own_choice_and_shows_it(choices: list[str], language: str) -> None:
    question = asked(choices, language)
    message = model_question(question, in_group=False)

    buttons = [button for row in message.buttons for button in row]
    assert len(buttons) == len(choices)
    for button, choice in zip(buttons, choices, strict=True):
        verb, question_id, words = button.action.split(" ", 2)
        assert (verb, question_id) == ("/answer", "abc123")
        assert question.meant(question.pressed(words)) == choice
        assert visible(button.label)
        assert len(button.label) <= MOST_LABEL + len("1. ")
    assert message.markdown.startswith("Which?")


@settings(max_examples=examples(200), deadline=None)
@given(choices=CHOICES, words=WORDS, frame=st.sampled_from(["{}", " {} ", "{}.", "{}！", "{}。"]))
def test_words_are_a_choice_or_are_kept(choices: list[str], words: str, frame: str) -> None:
    question = asked(choices)

    for number, choice in enumerate(choices, start=1):
        assert question.meant(choice) == choice
        found = question.meant(frame.format(choice))
        assert found in choices
        assert found.casefold().rstrip(".!。！ ") == choice.casefold().rstrip(".!。！ ")
        if str(number) not in choices and not any(each.rstrip(".!。！") == str(number) for each in choices):
            assert question.meant(f"{number}.") == choice
    meant = question.meant(words)
    assert meant in choices or meant == words.strip()


@settings(max_examples=examples(200), deadline=None)
@given(
    choices=CHOICES,
    steps=st.lists(
        st.tuples(st.sampled_from(["say", "use", "withdraw"]), WORDS, st.floats(0.0, 2 * EXPIRES)), max_size=6
    ),
)
def test_the_first_answer_in_time_stays_whatever_follows(
    choices: list[str], steps: list[tuple[str, str, float]]
) -> None:
    question, expected = asked(choices), None
    for step, words, at in sorted(steps, key=lambda each: each[2]):
        before = question
        if step == "say":
            question = question.answered("ann", at, approved=True, words=question.meant(words))
            if before.state is QuestionState.PENDING and at < EXPIRES:
                expected = before.meant(words)
        elif step == "use":
            question = question.used("f", at)
        else:
            question = question.withdrawn()
        if before.state in ENDED - {QuestionState.APPROVED}:
            assert question == before

    assert question.answer == (expected or "")
    assert (question.answered_by is not None) == (expected is not None)
    if question.state in ENDED:
        assert closing_line(question, "Ann").buttons == ()
