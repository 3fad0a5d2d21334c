"""Tests for the assistant's name, manner, form of address and language."""

import pytest

from agent_core.context.prompt import LONGEST_CUSTOM, PRESETS, Persona


def test_there_are_twelve_manners_to_choose_from() -> None:  # S2-11
    assert len(PRESETS) == 12
    assert Persona(personality="Butler").render().endswith(PRESETS["butler"])


def test_a_manner_in_own_words_is_cut_at_its_limit() -> None:  # S2-11
    told = Persona(personality="very " * 100).render()

    assert "very very" in told
    assert told.count("very") <= LONGEST_CUSTOM / 4


@pytest.mark.parametrize("slip", ["buttler", "", "  "])
def test_what_is_no_manner_means_the_default(slip: str) -> None:  # S2-11
    assert Persona(personality=slip).render() == Persona().render()


def test_the_name_the_form_of_address_and_the_language_are_told() -> None:  # S2-10, S2-11
    told = Persona(ai_name="Ada", user_address="captain", language="French").render()

    assert "You are Ada" in told
    assert "Address the person as captain." in told
    assert "Answer in French unless asked otherwise." in told
