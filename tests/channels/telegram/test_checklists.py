"""Checklists are read with their ticks, also as they change."""

import pytest
from pydantic import JsonValue

from channels.base import MessageEdited, MessageReceived
from parley.testing.emulators.telegram import TelegramEmulator
from parley.testing.emulators.telegram_updates import Json
from tests.channels.telegram.conftest import Inbox
from tests.channels.telegram.payloads import BEN, GROUP, message, read

TASKS: JsonValue = [{"id": 1, "text": "tent"}, {"id": 2, "text": "food"}]
LIST: Json = {"title": "Packing", "tasks": TASKS}


async def test_what_is_ticked_in_a_checklist_is_an_edit_of_it(telegram: TelegramEmulator, inbox: Inbox) -> None:
    ann = telegram.person("Ann")
    chat = telegram.private(ann)
    sent = await chat.shows(ann, {"checklist": LIST})
    await chat.ticks(ann, sent, 2)

    listed, ticked = [await inbox.next(), await inbox.next()]
    assert isinstance(listed, MessageReceived)
    assert listed.shared == "Checklist: Packing\n- [ ] tent\n- [ ] food"
    assert isinstance(ticked, MessageEdited)
    assert ticked.shared == "Checklist: Packing\n- [ ] tent\n- [x] food"
    assert (ticked.message_id, ticked.chat, ticked.sender.id) == (listed.message_id, listed.chat, listed.sender.id)


async def test_a_reply_to_a_checklist_quotes_it_with_its_ticks(telegram: TelegramEmulator, inbox: Inbox) -> None:
    ann = telegram.person("Ann")
    chat = telegram.private(ann)
    sent = await chat.shows(ann, {"checklist": LIST})
    await chat.ticks(ann, sent, 1)
    await chat.says(ann, "what is left?", reply_to=sent)

    *_, asked = [await inbox.next() for _ in range(3)]
    assert isinstance(asked, MessageReceived)
    assert asked.quoted == "Ann: Checklist: Packing\n- [x] tent\n- [ ] food"


def test_whoever_ticks_in_a_group_is_the_one_who_edits_and_added_tasks_are_read() -> None:
    told: Json = {"checklist_message": message(GROUP, checklist=LIST), "tasks": TASKS}
    edit = read({"message": message(GROUP, sender=BEN, message_id=9, checklist_tasks_added=told)})

    assert isinstance(edit, MessageEdited)
    assert (edit.sender.name, edit.message_id) == ("Ben", "5")
    assert edit.shared == "Checklist: Packing\n- [ ] tent\n- [ ] food"


@pytest.mark.parametrize("told", [{}, {"checklist_message": "odd"}, "odd"])
def test_a_change_of_a_checklist_that_is_not_shown_says_nothing(told: JsonValue) -> None:
    assert read({"message": message(checklist_tasks_done=told)}) is None


def test_a_place_that_moves_is_no_edit() -> None:
    assert read({"edited_message": message(location={"latitude": 1.0, "longitude": 2.0}, edit_date=6)}) is None
