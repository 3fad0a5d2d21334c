"""Web API methods that read: conversations.*, users.*, bots.*, team.*."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import TypeVar

from pydantic import JsonValue

from parley.testing.emulators import slack_params as params
from parley.testing.emulators.slack_api import MethodGroup
from parley.testing.emulators.slack_state import TEAM, Message, Person, Room
from parley.testing.emulators.slack_wire import Json, SlackError, micros

TYPES = {"im": "im", "channel": "public_channel", "group": "private_channel", "mpim": "mpim"}
_T = TypeVar("_T")


class Conversations(MethodGroup):
    def info(self, asked: params.ConversationInfo) -> Json:
        return {"channel": self._about(self.room(asked.channel))}

    def list(self, asked: params.ConversationList) -> Json:
        types = set(asked.types.replace(" ", "").split(","))
        rooms = [
            each
            for each in self.world.rooms.values()
            if TYPES[each.kind] in types
            and (each.bot_in or each.kind == "channel")
            and not (asked.exclude_archived and each.archived)
        ]
        page, more = _page(rooms, asked)
        return {"channels": [self._about(each) for each in page], "response_metadata": more}

    def open(self, asked: params.ConversationOpen) -> Json:
        person = (asked.users or "").split(",")[0]
        if asked.channel is not None:
            room = self.room(asked.channel)
        elif person in self.world.private_rooms:
            room = self.world.private_rooms[person]
        elif person in self.world.people:
            room = self.world.open_private(self.world.people[person])
        else:
            raise SlackError("user_not_found")
        return {"channel": self._about(room) if asked.return_im else {"id": room.id}, "no_op": True}

    def members(self, asked: params.Members) -> Json:
        room = self.room(asked.channel)
        everybody = [*room.people, self.world.bot] if room.bot_in else room.people
        page, more = _page(everybody, asked)
        return {"members": [each.id for each in page], "response_metadata": more}

    def history(self, asked: params.History) -> Json:
        room = self.joined(asked.channel)
        first, last = _window(room.marks, asked)
        wanted = [each for each in room.timeline[first:last] if not each.deleted or each.replies]
        return self._messages(wanted[::-1], asked)

    def replies(self, asked: params.Replies) -> Json:
        room = self.joined(asked.channel)
        root = room.messages.get(asked.ts)
        if root is None or (root.deleted and not root.replies):
            raise SlackError("thread_not_found")
        root = root.reply_to or root
        replies = [each for each in root.replies if not each.deleted]
        first, last = _window([micros(each.ts) for each in replies], asked)
        return self._messages([root, *replies[first:last]], asked)

    def user(self, asked: params.UserInfo) -> Json:
        person = self.world.people.get(asked.user)
        if person is None:
            raise SlackError("user_not_found")
        about = _user(person)
        if asked.include_locale:
            about["locale"] = person.language or "en-US"
        return {"user": about}

    def bot(self, asked: params.BotInfo) -> Json:
        found = next((each for each in self.world.people.values() if each.is_bot and each.bot_id == asked.bot), None)
        if found is None:
            raise SlackError("bot_not_found")
        about: Json = {"id": found.bot_id, "app_id": found.app_id, "user_id": found.id, "name": found.name}
        return {"bot": {**about, "deleted": False, "icons": {}}}

    def team(self, _: params.TeamInfo) -> Json:
        return {"team": {"id": TEAM, "name": "Emulated", "domain": "emulated", "email_domain": "", "icon": {}}}

    def _messages(self, wanted: Sequence[Message], asked: params.History) -> Json:
        page, more = _page(wanted, asked)
        messages: list[JsonValue] = [each.to_json(with_metadata=asked.include_all_metadata) for each in page]
        return {"messages": messages, "has_more": bool(more["next_cursor"]), "response_metadata": more}

    def _about(self, room: Room) -> Json:
        about: Json = {
            "id": room.id,
            "created": 1_700_000_000,
            "is_archived": room.archived,
            "is_im": room.kind == "im",
        }
        if room.kind == "im":
            return {**about, "user": room.people[0].id, "is_user_deleted": False}
        return {
            **about,
            "name": room.title,
            "name_normalized": room.title,
            "is_channel": room.kind == "channel",
            "is_group": room.kind == "group",
            "is_mpim": room.kind == "mpim",
            "is_private": room.kind != "channel",
            "is_member": room.bot_in,
            "is_general": False,
            "context_team_id": TEAM,
            "topic": {"value": "", "creator": "", "last_set": 0},
            "purpose": {"value": "", "creator": "", "last_set": 0},
            "num_members": len(room.people) + room.bot_in,
        }


def _window(marks: Sequence[int], asked: params.History) -> tuple[int, int]:
    oldest, latest = micros(asked.oldest or "0"), micros(asked.latest) if asked.latest else None
    first = bisect_left(marks, oldest) if asked.inclusive else bisect_right(marks, oldest)
    if latest is None:
        return first, len(marks)
    return first, bisect_right(marks, latest) if asked.inclusive else bisect_left(marks, latest)


def _page(found: Sequence[_T], asked: params.Paged) -> tuple[Sequence[_T], Json]:
    if asked.cursor and not asked.cursor.removeprefix("next:").isdecimal():
        raise SlackError("invalid_cursor")
    start = int(asked.cursor.removeprefix("next:") or 0)
    end = start + asked.limit
    return found[start:end], {"next_cursor": f"next:{end}" if end < len(found) else ""}


def _user(person: Person) -> Json:
    profile: Json = {
        "real_name": person.name,
        "real_name_normalized": person.name,
        "display_name": person.name,
        "display_name_normalized": person.name,
        "team": TEAM,
    }
    if person.is_bot:
        profile.update(api_app_id=person.app_id, bot_id=person.bot_id)
    return {
        "id": person.id,
        "team_id": TEAM if person.belongs != "stranger" else "T0OTHER",
        "name": person.username,
        "deleted": False,
        "real_name": person.name,
        "tz": person.timezone,
        "tz_label": "Emulated time",
        "tz_offset": 3600,
        "profile": profile,
        "is_admin": False,
        "is_owner": False,
        "is_restricted": person.belongs == "guest",
        "is_stranger": person.belongs == "stranger",
        "is_ultra_restricted": False,
        "is_bot": person.is_bot,
        "is_app_user": False,
        "updated": 1_700_000_000,
    }
