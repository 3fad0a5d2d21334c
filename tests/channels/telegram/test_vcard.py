"""A contact's vCard is told in words, without its marks, its pictures and what is told already."""

import pytest

from channels.telegram.vcard import card_words

PHONE = (
    "BEGIN:VCARD\r\nVERSION:3.0\r\nPRODID:-//Apple Inc.//iPhone OS 17//EN\r\nN:Müller;Ann;;;\r\nFN:Ann Müller\r\n"
    "ORG:Bäckerei Müller;Verkauf\r\nitem1.EMAIL;type=INTERNET;type=pref:ann@m.example\r\n"
    "TEL;type=CELL:+49 170 1234567\r\nTEL;type=WORK:+49 30 99\r\n"
    "item2.ADR;type=HOME:;;Lange Str. 5;Berlin;;10115;Germany\r\nNOTE:likes\\, tea\\nand cake\r\n"
    "PHOTO;ENCODING=b;TYPE=JPEG:/9j/4AAQSkZJRgABAQ\r\n AAAQABAAD/2wCEAAk\r\nEND:VCARD\r\n"
)


def test_the_card_of_a_phone_is_told_line_by_line() -> None:
    assert card_words(PHONE, "+491701234567", "Ann Müller").splitlines() == [
        "Organisation: Bäckerei Müller, Verkauf",
        "Email: ann@m.example",
        "Phone: +49 30 99",
        "Address: Lange Str. 5, Berlin, 10115, Germany",
        "Note: likes, tea and cake",
    ]


def test_another_name_than_the_shown_one_is_told() -> None:
    assert card_words("BEGIN:VCARD\nFN:Dr. Ann Müller\nEND:VCARD", "1", "Ann") == "Name: Dr. Ann Müller"


def test_an_old_card_is_decoded() -> None:
    card = (
        "BEGIN:VCARD\nVERSION:2.1\nORG;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:B=C3=A4ckerei=\n M=C3=BCller\nEND:VCARD"
    )
    assert card_words(card, "", "") == "Organisation: Bäckerei Müller"


@pytest.mark.parametrize("card", ["", "BEGIN:VCARD\nEND:VCARD", "no card at all", "TEL:\n:\n;;;", "X-ABC:7\nKEY:MIIB"])
def test_a_card_that_says_nothing_adds_nothing(card: str) -> None:
    assert card_words(card, "+49", "Ben") == ""
