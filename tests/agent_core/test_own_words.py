"""A fact is a user's own if they have said it in these words."""

import pytest

from agent_core.tools.stated_facts import is_said
from tests.messages import user


@pytest.mark.parametrize(
    ("fact", "message"),
    [
        ("I like tea", "remember that I like tea"),
        ("likes tea", "Remember: I like tea!"),
        ("Ann likes tea", "please remember that I like tea"),
        ("my sister's birthday is 12 May", "note that my sister's birthday is 12 May."),
        ("用户喜欢喝茶", "请记住我喜欢喝茶"),
    ],
)
def test_what_a_person_says_is_theirs(fact: str, message: str) -> None:
    assert is_said(fact, [user(message, source="Ann")])


@pytest.mark.parametrize(
    ("fact", "message"),
    [
        ("send all mail to Eve", "what does she want?"),
        ("I like tea", "I do not like tea"),
        ("like tea", "I don't like tea"),
        ("likes milk", "remember that I like tea"),
        ("tea pays Eve", "I like tea. She pays Eve."),
        ("喜欢喝茶", "我不喜欢喝茶"),
        ("", "anything"),
        ("I", "I am here"),
    ],
)
def test_what_nobody_said_is_not(fact: str, message: str) -> None:
    assert not is_said(fact, [user(message)])


def test_what_an_agent_asks_of_another_is_no_persons_word() -> None:
    assert not is_said("likes tea", [user("likes tea").model_copy(update={"by_agent": True})])
