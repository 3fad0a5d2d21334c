"""The folders in which chats keep their files."""

import pytest

from channels.base import ChatKey
from gateway.permissions.workspaces import folder_name

PAIRS = [
    ("a.b", "a_b"),
    ("a/b", "a:b"),
    ("C01", "c01"),
    ("../..", "_____"),
    ("\u00e9", "e\u0301"),
    ("\u4e2d", "\u6587"),
    ("x" * 300, "x" * 299),
    ("", "."),
]


def name(chat: str, thread: str | None = None) -> str:
    return folder_name(ChatKey(platform="memory", account="here", chat=chat, thread=thread))


@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_no_two_chats_share_a_folder_not_even_where_capitals_do_not_count(one: str, other: str) -> None:
    assert name(one).lower() != name(other).lower()


@pytest.mark.parametrize("chat", [each for pair in PAIRS for each in pair])
def test_a_name_leads_nowhere_and_every_disk_takes_it(chat: str) -> None:
    assert set(name(chat)) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.")
    assert len(name(chat)) <= 120
    assert not name(chat).startswith(".")


def test_a_person_finds_the_folder_of_a_chat() -> None:
    assert name("-1001", "7") == "memory_here_-1001_7"
    assert name("C02AB").startswith("memory_here_C02AB.")
