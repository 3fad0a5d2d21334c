"""Terms of the search index: words, and single characters and pairs of Chinese, Japanese and Korean."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from channels.base import ChatKey
from gateway.store.search_terms import LONGEST_TERM, chat_term, indexed_terms, sought_terms

CHINESE = st.text("数据库备份完成了今天明天报告", min_size=1, max_size=12)
ANY = st.text(max_size=60)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The plants are DRY.", "dry plants"),
        ("今天数据库备份完成了", "数据"),
        ("今天数据库备份完成了", "库"),
        ("今天数据库备份完成了", "数据库 完成"),
        ("Übergrößen im Café", "ubergrossen cafe"),
        ("ＡＢＣ１２３", "abc123"),
        ("見積もりを送ってください", "見積もり"),
        ("내일 회의가 있습니다", "회의"),
        ("हिन्दी में", "हिन्दी"),
        ("done ✅ and out", "✅"),
        ("see https://example.org/a_b-c?d=1", "example b"),
        ("版本v2发布", "v2"),
        ("x" * 200, "x" * 100),
    ],
)
def test_these_words_find_this_text(text: str, words: str) -> None:
    assert set(sought_terms(words)) <= set(indexed_terms(text))


@pytest.mark.parametrize(("text", "words"), [("今天", "天今"), ("plants", "plant"), ("2026", "26")])
def test_these_words_do_not_find_this_text(text: str, words: str) -> None:
    assert not set(sought_terms(words)) <= set(indexed_terms(text))


@given(before=ANY, word=CHINESE, after=ANY)
def test_every_part_of_a_chinese_text_finds_it(before: str, word: str, after: str) -> None:
    assert set(sought_terms(word)) <= set(indexed_terms(f"{before}{word}{after}"))


@given(words=st.lists(st.text("abcdé0９", min_size=1, max_size=8), min_size=1), other=ANY)
def test_every_word_of_a_text_finds_it(words: list[str], other: str) -> None:
    terms = set(indexed_terms(f"{other} {' '.join(words)}"))

    assert all(set(sought_terms(word)) <= terms for word in words)


@given(ANY)
def test_a_text_finds_itself_and_its_terms_are_clean(text: str) -> None:
    terms = indexed_terms(text)

    assert set(sought_terms(text)) <= set(terms)
    assert not any(char.isspace() or char in "\"'*:()^\0" for term in terms for char in term)
    assert all(0 < len(term) <= LONGEST_TERM for term in terms)


def test_every_chat_has_a_term_of_its_own() -> None:
    chats = [ChatKey(platform="telegram", account="1", chat=str(number)) for number in range(1_000)]

    assert len(set(map(chat_term, chats))) == len(chats)
