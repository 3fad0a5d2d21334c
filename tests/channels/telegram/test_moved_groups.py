"""Groups that become supergroups: only Telegram itself can say so."""

import pytest

from channels.base import ChatMoved
from tests.channels.telegram.payloads import GROUP, Json, message, read


def test_both_service_messages_of_a_group_that_became_a_supergroup_are_the_same_event() -> None:
    group: Json = {"id": -7, "type": "group", "title": "Team"}
    anonymous: Json = {"id": 1087968824, "is_bot": True, "first_name": "Group"}

    old = read({"message": message(group, migrate_to_chat_id=-1001)})
    new = read({"message": message(GROUP, sender=anonymous, migrate_from_chat_id=-7)})

    assert isinstance(old, ChatMoved)
    assert (old.chat.chat, old.to.chat) == ("-7", "-1001")
    assert old == new


@pytest.mark.parametrize(
    "update",
    [
        {"message": message(GROUP, pinned_message=message(GROUP, migrate_to_chat_id=-1002))},
        {"message": message(GROUP, text="hi", reply_to_message=message(GROUP, migrate_to_chat_id=-1002))},
        {"message": message(GROUP, text="hi", external_reply={"migrate_to_chat_id": -1002, "origin": {}})},
        {"edited_message": message(GROUP, migrate_to_chat_id=-1002)},
        {"channel_post": message(GROUP, migrate_to_chat_id=-1002)},
    ],
)
def test_what_a_member_can_write_moves_no_group(update: Json) -> None:
    assert not isinstance(read(update), ChatMoved)
