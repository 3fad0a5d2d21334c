"""Reads in which chats something is to be posted: a report, as in `every monday 9:00 what is late to #team and here`,
and a reminder, as in `#team on Slack monday 9:00 stand-up`.
"""

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from agent_core.late_pattern import LatePattern
from channels.base import ChatKey, Sender
from channels.text import in_code, literal
from gateway.delivery.delivery import Delivery
from gateway.schedule.jobs.job_rights import JobRights
from gateway.schedule.jobs.jobs import JobRefused
from gateway.schedule.jobs.places import where
from gateway.store.store import Store
from gateway.texts.say import Language

MOST = 5
"""Chats in which one job posts."""
MOST_NAMED = 10
"""Chats that a refusal names."""

_BEGINS = r"(?=#|me\s+on\s|here\b|这里|本群|此处)"
_TO = LatePattern(
    rf"(?:(?<!\S)(?:and\s+)?(?:post(?:ed)?\s+)?to\s+|→\s*|(?:发送|发布|发)(?:到|至|给)\s*){_BEGINS}", re.IGNORECASE
)
_LEADS = LatePattern(r"(?:to\s+)?(?=#|me\s+on\s)", re.IGNORECASE)
_AND = LatePattern(rf"\s*(?:[,，、;；]|(?:[,，]\s*)?and\b|和|及)\s*(?:to\s+)?{_BEGINS}", re.IGNORECASE)
_HERE = LatePattern(r"here\b|这里|本群|此处", re.IGNORECASE)
_ME = LatePattern(r"me\s+on\s+(\w+)", re.IGNORECASE)
_ON = LatePattern(r"\s+on\s+(\w+)|\s*[(（]\s*(\w+)\s*[)）]", re.IGNORECASE)
_AS_FILE = LatePattern(r"\s*[,，]?(?<![A-Za-z])as\s+a\s+file\b|\s*[,，]?(?:以文件的?形式|作为文件)", re.IGNORECASE)
_ANY_NAME = LatePattern(r"#[^\s,，、;；。]*")
_GOES_ON = LatePattern(r"[A-Za-z0-9_-]")


class GroupsNamed(JobRefused):
    """A refusal with the names of groups, which anybody may have given them."""


class Wish(Struct, frozen=True):
    """The chats in which a report is to be posted, and the text without them."""

    chats: tuple[ChatKey, ...]
    rest: str
    as_file: bool = False
    """True if it is to come as a file."""


class Destinations(Struct, frozen=True):
    """Finds chats by the names that people write. A name in quotation marks or backticks is not one."""

    store: Store
    delivery: Delivery
    rights: JobRights

    async def read(self, text: str, chat: ChatKey, by: Sender, language: Language) -> Wish:
        """Return the chats that a text names at `to #NAME`. Raises JobRefused."""
        bare = _AS_FILE.sub("", text)
        if bare != text:
            wish = await self.read(bare, chat, by, language)
            return replace(wish, rest=wish.rest.strip(), as_file=True)
        found = [*_TO.finditer(text)]
        return (
            await self._read_at(text, found[-1].start(), found[-1].end(), chat, by, language)
            if found
            else Wish((), text)
        )

    async def leading(self, text: str, chat: ChatKey, by: Sender, language: Language) -> Wish:
        """Return the chats with which a text begins, as in `#team on Slack monday 9:00 stand-up`. Raises JobRefused."""
        found = _LEADS.match(text)
        return await self._read_at(text, 0, found.end(), chat, by, language) if found else Wish((), text)

    async def _read_at(self, text: str, start: int, at: int, chat: ChatKey, by: Sender, language: Language) -> Wish:
        """Return the chats that are named at a place of a text, and the text without what stands from `start` on."""
        me = _ME.match(text, at)
        if me and not self._own(me[1], chat, by):
            return Wish((), text)  # as in `what Bob wrote to me on Slack`
        known, chats = await self.known(chat, by), list[ChatKey]()
        while True:
            one, at = self._one(text, at, chat, by, known, language)
            chats.append(one)
            more = _AND.match(text, at)
            if more is None:
                break
            at = more.end()
        chats = list(dict.fromkeys(chats))
        if len(chats) > MOST:
            raise JobRefused("target_too_many", most=MOST)
        before, after = text[:start].rstrip(" ,，"), text[at:].lstrip(" ,，.。:：")
        return Wish(tuple(chats), " ".join(filter(None, (before, after))))

    async def known(self, chat: ChatKey, by: Sender) -> list[ChatKey]:
        """Return the groups in which somebody has talked to Parley and may have jobs."""
        access = self.rights.access
        ids = {account.rpartition(":")[2] for account in access.accounts(chat, by)}
        talked = await self.store.job_targets.answered_in(ids)
        talked |= {(each, person) for each, person in access.speakers if person in ids}
        return [each for each in sorted({each for each, _ in talked}, key=str) if self._may(each, chat, by, talked)]

    def _may(self, there: ChatKey, chat: ChatKey, by: Sender, talked: set[tuple[ChatKey, str]]) -> bool:
        if not self.delivery.knows(there) or not self.rights.access.is_group(there):
            return False
        poster = self.rights.poster(chat, by.id, there)
        return poster is not None and (there, poster.id) in talked

    def _one(
        self, text: str, at: int, chat: ChatKey, by: Sender, known: Sequence[ChatKey], language: Language
    ) -> tuple[ChatKey, int]:
        """Return the chat that is named at a place of the text, and where its name ends."""
        if found := _HERE.match(text, at):
            return chat, found.end()
        if found := _ME.match(text, at):
            own = self._own(found[1], chat, by)
            if not own:
                raise JobRefused("target_not_linked", platform=found[1])
            return own[0], found.end()
        return self._group(text, at, known, language)

    def _own(self, platform: str, chat: ChatKey, by: Sender) -> list[ChatKey]:
        """Return the private chats of somebody on a platform."""
        found = self.rights.access.private_chats(chat, by)
        return [each for each in found if each.platform == platform.lower() and self.delivery.knows(each)]

    def _group(self, text: str, at: int, known: Sequence[ChatKey], language: Language) -> tuple[ChatKey, int]:
        named = [(each, end) for each in known for end in self._ends(text, at, each)]
        longest = max((end for _, end in named), default=at)
        here = list(dict.fromkeys(each for each, end in named if end == longest))
        platform = _ON.match(text, longest)
        if platform and here:
            on = (platform[1] or platform[2]).lower()
            if of_it := [each for each in here if each.platform == on]:
                here, longest = of_it, platform.end()
        if len(here) == 1:
            return here[0], longest
        access = self.rights.access
        if here:
            places = ", ".join(f"`#{each}`" for each in here)
            raise GroupsNamed("target_ambiguous", places=places)
        found = _ANY_NAME.match(text, at)
        name = found[0] if found else "#"
        places = ", ".join(where(access, each, language) for each in known[:MOST_NAMED])
        key = "target_unknown_name" if places else "target_unknown_name_none"
        raise GroupsNamed(key, name=literal(name), quoted=in_code(name), places=places)

    def _ends(self, text: str, at: int, chat: ChatKey) -> Iterator[int]:
        """Yield where the name of a chat ends, if it stands at `#` in a text. Its key is a name, too.

        On Discord the name of a channel stands behind that of its server.
        """
        whole = self.rights.access.name_of_chat(chat)
        for name in (whole, whole.rpartition(" #")[2], chat.chat, str(chat)):
            bare = name.lstrip("#")
            end = at + 1 + len(bare)
            is_there = bool(bare) and text[at + 1 : end].casefold() == bare.casefold()
            if is_there and not (_GOES_ON.match(text, end) and _GOES_ON.match(bare[-1])):
                yield end
