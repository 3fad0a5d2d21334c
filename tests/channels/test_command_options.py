"""A command's typed options, read from its usage hint."""

import re

from hypothesis import given
from hypothesis import strategies as st

from channels.commands import CommandOption, options

WORDS = st.sampled_from(["load", "rm", "en", "md"])
PLACES = st.sampled_from(["NAME", "ID", "TEXT", "N"])
BRANCH = st.one_of(WORDS, PLACES, st.tuples(WORDS, PLACES).map(" ".join))
BRANCHES = st.lists(BRANCH, min_size=1, max_size=4, unique=True)
PARTS = BRANCHES.map("|".join)
HINTS = st.lists(st.one_of(PARTS.map("[{}]".format), PARTS), max_size=4).map(" ".join)


def test_words_are_choices_and_capitals_are_written_by_the_user() -> None:
    assert options("load|unload NAME") == (
        CommandOption(name="action", hint="load|unload", choices=("load", "unload"), required=True),
        CommandOption(name="name", hint="NAME"),
    )


def test_brackets_may_be_left_out() -> None:
    assert [option.required for option in options("[TIME TEXT]")] == [False, False]
    assert [option.required for option in options("WORDS")] == [True]


def test_a_word_beside_a_place_is_proposed() -> None:
    assert options("[NAME|reset]") == (CommandOption(name="name", hint="NAME|reset", proposals=("reset",)),)


def test_words_with_different_places_share_one_text() -> None:
    assert [option.name for option in options("[on|quiet 22-7|snooze 3h]")] == ["action", "more"]


def test_each_part_of_words_is_an_option_of_its_own() -> None:
    found = options("[all|role NAME] [guest|member] [channel|everywhere]")
    assert [option.name for option in found] == ["action", "name", "choice", "level"]


def test_n_is_a_number() -> None:
    assert options("[N]") == (CommandOption(name="n", hint="N", is_number=True),)


@given(HINTS)
def test_whatever_the_hint_platforms_accept_the_options(hint: str) -> None:
    found = options(hint)

    assert len({option.name for option in found}) == len(found)
    for option in found:
        assert re.fullmatch(r"[-_a-z]{1,32}", option.name)
        assert 0 < len(option.hint) <= 100
        assert not (option.choices and option.proposals)
