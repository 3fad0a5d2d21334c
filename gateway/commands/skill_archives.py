"""Gets the archive of a skill from an address, the message's attachment, or a file of the chat."""

import asyncio
import os
import re
from urllib.parse import urlsplit

from msgspec import Struct

from agent_core.file_handles import raise_lack
from agent_core.late_pattern import LatePattern
from agent_core.skills.skill import PackedSkill
from agent_core.tools.files.confined import open_file, read_content
from agent_core.tools.tool import ToolFailed
from agent_core.tools.web.fetch import Fetcher
from channels.attachments import Attachment
from channels.base import ChannelError
from channels.capabilities import Downloads
from channels.text import literal
from gateway.commands.command import Invocation
from gateway.permissions.workspaces import Workspaces
from gateway.texts.findings import finding_in
from gateway.texts.say import say

MOST_BYTES = 10 * 1024 * 1024
"""Size of an archive."""
_SHOWN = 80
_GITHUB = LatePattern(
    r"https?://(?:www\.)?github\.com/(?P<owner>[\w.-]+)/(?P<repo>[\w.-]+?)(?:\.git)?/?"
    r"(?:/(?:tree|blob)/(?P<ref>[^/?#]+)(?:/(?P<path>[^?#]*))?)?(?:[?#].*)?"
)
_ENDING = LatePattern(r"(?:\.tar\.gz|\.tgz|\.zip|\.tar)$", re.I)
_ADDRESS = LatePattern(r"<?(https?://[^\s<>|]+)(?:\|[^<>]*)?>?", re.I)
"""Slack and Discord may wrap an address."""
_NOT_IN_A_NAME = LatePattern(r"[^a-z0-9]+")


class NotTaken(Exception):
    """There is no archive to read; the text says why and what to do, in the person's language."""


class Taken(Struct, frozen=True):
    """A skill that was read from an archive."""

    packed: PackedSkill
    source: str
    """The address as it was given, or "" for a file."""
    place: str
    """Where it comes from, for people."""


class SkillArchives:
    """Reads the archives that people name or send."""

    def __init__(self, workspaces: Workspaces, fetcher: Fetcher) -> None:
        self._workspaces = workspaces
        self._fetcher = fetcher

    async def read(self, given: Invocation, words: str, wanted: str = "") -> Taken:
        """Return the skill in the archive that the words or the message's attachment name. Raises NotTaken.

        `wanted` is the skill's name, if it is known; otherwise it may follow the archive.
        """
        place, _, name = words.strip().partition(" ")
        if address := _ADDRESS.fullmatch(place):
            return await self._fetched(given, address[1], wanted or name.strip())
        if given.attachments:
            return await self._attached(given, given.attachments[0], wanted or place)
        if place:
            return await self._in_workspace(given, place, wanted or name.strip())
        raise NotTaken(say("skill_install_how", given.language, slash=given.slash))

    async def _fetched(self, given: Invocation, address: str, wanted: str) -> Taken:
        url, within = archive_address(address)
        host = literal((urlsplit(url).hostname or "")[:_SHOWN])
        try:
            found = await self._fetcher.download(url, MOST_BYTES)
        except ToolFailed as error:
            raise_lack(error)
            raise NotTaken(
                say("skill_not_fetched", given.language, fact=literal(finding_in(error.fact, given.language)))
            ) from error
        if not found.whole:
            raise NotTaken(_too_large(given))
        name = urlsplit(url).path.rstrip("/").rpartition("/")[2]
        return await self._unpacked(given, found.body, name, ArchivePlace(address, host, within, wanted))

    async def _attached(self, given: Invocation, attachment: Attachment, wanted: str) -> Taken:
        channel = given.session.conversation.channel
        if (attachment.size or 0) > MOST_BYTES:
            raise NotTaken(_too_large(given))
        name = attachment.safe_name
        if not isinstance(channel, Downloads):
            raise NotTaken(say("skill_install_how", given.language, slash=given.slash))
        try:
            content = await channel.download(attachment)
        except ChannelError as error:
            raise NotTaken(say("skill_not_fetched", given.language, fact=literal(error.reason))) from error
        if len(content) > MOST_BYTES:
            raise NotTaken(_too_large(given))
        return await self._unpacked(given, content, name, ArchivePlace("", literal(name), "", wanted))

    async def _in_workspace(self, given: Invocation, name: str, wanted: str) -> Taken:
        try:
            content = await asyncio.to_thread(self._content, given, name)
        except (ToolFailed, OSError) as error:
            raise_lack(error)
            text = say("skill_no_file", given.language, name=literal(name[:_SHOWN]), slash=given.slash)
            raise NotTaken(text) from error
        if len(content) > MOST_BYTES:
            raise NotTaken(_too_large(given))
        return await self._unpacked(given, content, name, ArchivePlace("", literal(name), "", wanted))

    def _content(self, given: Invocation, name: str) -> bytes:
        handle = open_file(self._workspaces.folder(given.chat), name)
        try:
            return read_content(handle, name, MOST_BYTES + 1)
        finally:
            os.close(handle)

    async def _unpacked(self, given: Invocation, content: bytes, name: str, about: "ArchivePlace") -> Taken:
        from agent_core.skills.archive import BadArchive, packed_skill  # noqa: PLC0415 (once a skill is installed)

        title = _NOT_IN_A_NAME.sub("-", _ENDING.sub("", name).lower()).strip("-")
        try:
            packed = await asyncio.to_thread(
                packed_skill, content, title, within=about.within, wanted=about.wanted.lower()
            )
        except BadArchive as error:
            detail = literal(error.detail)
            raise NotTaken(
                say(f"archive_{error.trouble}", given.language, detail=detail, place=about.place, slash=given.slash)
            ) from error
        return Taken(packed, about.source, about.place)


class ArchivePlace(Struct, frozen=True):
    """The origin of an archive, before it is read."""

    source: str
    place: str
    within: str
    wanted: str


def archive_address(address: str) -> tuple[str, str]:
    """Return the address of the archive, and the folder in it: a repository on GitHub is asked for its archive."""
    found = _GITHUB.fullmatch(address)
    if found is None:
        return address, ""
    path = (found["path"] or "").strip("/").removesuffix("SKILL.md").strip("/")
    url = f"https://codeload.github.com/{found['owner']}/{found['repo']}/zip/{found['ref'] or 'HEAD'}"
    return url, path


def _too_large(given: Invocation) -> str:
    return say("archive_file_too_large", given.language, most=MOST_BYTES // 2**20)
