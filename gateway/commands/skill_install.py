"""The actions of /skill that install, update, remove and lock skills, each approved by its content's digest."""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping
from pathlib import Path

import structlog

from agent_core.clock import Clock
from agent_core.file_handles import raise_lack
from agent_core.skills.header import BadSkill
from agent_core.skills.installed import InstalledSkills, NotProposed, Proposal
from agent_core.skills.library import SkillLibrary
from agent_core.skills.skill import Origin
from channels.attachments import Attachment
from channels.base import Button, OutboundMessage
from channels.text import literal
from gateway.chat.replies import Answer
from gateway.commands.command import Invocation, reply, rewritten
from gateway.commands.skill_archives import NotTaken, SkillArchives, Taken
from gateway.commands.skill_contents import changes, code, contents, diff, diff_block, findings
from gateway.errors import ParleyError
from gateway.security.private_file import write_private
from gateway.security.secrets import Secrets
from gateway.texts.say import say

LONGEST_NAME = 64

log = structlog.get_logger(__name__)


class SkillInstalls:
    """Installs and changes skills for owners and admins, one request at a time."""

    def __init__(
        self, library: SkillLibrary, archives: SkillArchives, clock: Clock, secrets: Secrets, outgoing: Path
    ) -> None:
        """`outgoing` is the folder of files that are sent."""
        self._library = library
        self._archives = archives
        self._clock = clock
        self._secrets = secrets
        self._outgoing = outgoing
        self._changing = asyncio.Lock()
        self._acts: Mapping[str, Callable[[Invocation, InstalledSkills, str], Awaitable[Answer]]] = {
            "install": self._install,
            "update": self._update,
            "approve": self._approve,
            "discard": self._discard,
            "remove": self._remove,
            "lock": self._lock,
            "unlock": self._unlock,
        }

    @property
    def verbs(self) -> Collection[str]:
        """The words that name an action."""
        return self._acts.keys()

    async def run(self, given: Invocation, verb: str, rest: str) -> Answer:
        """Execute an action."""
        installed = self._library.installed
        if installed is None:
            return reply(say("skill_install_off", given.language))
        async with self._changing:
            try:
                return await self._acts[verb](given, installed, rest.strip())
            except NotTaken as error:
                return reply(str(error))
            except OSError as error:
                raise_lack(error)
                log.warning("a skill was not changed", verb=verb, reason=str(error))
                return reply(say("skill_not_kept", given.language, reason=error.strerror or ""))
            finally:
                self._library.refresh(now=True)

    async def _install(self, given: Invocation, installed: InstalledSkills, rest: str) -> Answer:
        taken = await self._archives.read(given, rest)
        if refusal := self._taken_name(given, installed, taken.packed.name):
            return reply(refusal)
        proposal = await self._propose(given, installed, taken)
        text = "\n\n".join([contents(taken.packed, taken.place, given.language), _bound(given, proposal)])
        return OutboundMessage(markdown=text, buttons=_buttons(given, proposal, "skill_install_button"))

    async def _update(self, given: Invocation, installed: InstalledSkills, rest: str) -> Answer:
        name, _, archive = rest.partition(" ")
        name = name.lower()
        current = installed.approval(name)
        if current is None or not current.installed:
            return reply(say("skill_not_installed", given.language, name=_named(name), slash=given.slash))
        if current.locked:
            return reply(say("skill_is_locked", given.language, name=literal(name), slash=given.slash))
        if not archive.strip() and not current.source and not given.attachments:
            return reply(say("skill_no_source", given.language, name=literal(name), slash=given.slash))
        place = archive or ("" if given.attachments else current.source)
        taken = await self._archives.read(given, place, name)
        if taken.packed.name != name:
            other = literal(taken.packed.name)
            return reply(say("skill_other_name", given.language, name=literal(name), other=other, slash=given.slash))
        proposal = await self._propose(given, installed, taken)
        if proposal.digest == current.digest:
            return reply(say("skill_unchanged", given.language, name=literal(name)))
        return await self._shown_changes(given, installed, taken, proposal)

    async def _shown_changes(
        self, given: Invocation, installed: InstalledSkills, taken: Taken, proposal: Proposal
    ) -> OutboundMessage:
        before = await asyncio.to_thread(installed.files, proposal.name, proposal.replaces)
        after = taken.packed.files
        lines = [self._secrets.mask(line) for line in diff(before, after)]
        block, is_whole = diff_block(lines)
        title = say("skill_update_offered", given.language, name=literal(proposal.name), place=taken.place)
        more = [] if is_whole else [say("skill_diff_cut", given.language)]
        files = () if is_whole else (await asyncio.to_thread(self._written, proposal, lines),)
        parts = [title, changes(before, after, given.language), block, *more, findings(after, given.language)]
        return OutboundMessage(
            markdown="\n\n".join([*parts, _bound(given, proposal)]),
            buttons=_buttons(given, proposal, "skill_update_button"),
            attachments=files,
        )

    def _written(self, proposal: Proposal, lines: list[str]) -> Attachment:
        """Write the whole diff to a file. Raises OSError."""
        file = self._outgoing / f"skill-{proposal.code}" / f"{proposal.name}.diff"
        try:
            write_private(file, (f"{line}\n" for line in lines))
        except ParleyError as error:
            raise OSError(0, error.sentence) from error
        return Attachment(name=file.name, mime_type="text/plain", size=file.stat().st_size, path=str(file))

    async def _propose(self, given: Invocation, installed: InstalledSkills, taken: Taken) -> Proposal:
        source, by, at = self._secrets.mask(taken.source), _person(given), self._clock.time()
        return await asyncio.to_thread(installed.propose, taken.packed, source=source, by=by, at=at)

    async def _approve(self, given: Invocation, installed: InstalledSkills, rest: str) -> Answer:
        proposal = installed.proposal(rest, self._clock.time())
        if proposal is None:
            return rewritten(say("skill_proposal_gone", given.language, slash=given.slash))
        if not proposal.replaces and (refusal := self._taken_name(given, installed, proposal.name, proposal.digest)):
            return rewritten(refusal)
        try:
            await asyncio.to_thread(installed.approve, proposal, by=_person(given), at=self._clock.time())
        except NotProposed:
            return rewritten(say("skill_proposal_gone", given.language, slash=given.slash))
        log.info("a skill was approved", name=proposal.name, digest=proposal.digest, by=_person(given))
        key = "skill_updated" if proposal.replaces else "skill_installed"
        text = say(key, given.language, name=literal(proposal.name), code=proposal.code, slash=given.slash)
        return rewritten(text)

    async def _discard(self, given: Invocation, installed: InstalledSkills, rest: str) -> Answer:
        installed.discard(rest)
        return rewritten(say("skill_discarded", given.language))

    async def _remove(self, given: Invocation, installed: InstalledSkills, rest: str) -> Answer:
        name = rest.lower()
        if (approval := installed.approval(name)) is not None and approval.locked:
            return reply(say("skill_is_locked", given.language, name=literal(name), slash=given.slash))
        if not await asyncio.to_thread(installed.remove, name):
            return reply(say("skill_not_installed", given.language, name=_named(name), slash=given.slash))
        return reply(say("skill_removed", given.language, name=literal(name)))

    async def _lock(self, given: Invocation, installed: InstalledSkills, rest: str) -> Answer:
        skill = self._library.find(rest.lower())
        if skill is None:
            return reply(say("skill_unknown", given.language, name=_named(rest), slash=given.slash))
        if skill.origin is Origin.SHIPPED:
            return reply(say("skill_lock_shipped", given.language, name=literal(skill.name)))
        try:
            made = await asyncio.to_thread(installed.lock, skill, by=_person(given), at=self._clock.time())
        except BadSkill as error:
            return reply(say("skill_failed", given.language, fact=literal(str(error))))
        text = say("skill_locked", given.language, name=literal(skill.name), code=made.digest[:16], slash=given.slash)
        return reply(text)

    async def _unlock(self, given: Invocation, installed: InstalledSkills, rest: str) -> Answer:
        if not await asyncio.to_thread(installed.unlock, rest.lower()):
            return reply(say("skill_not_locked", given.language, name=_named(rest)))
        return reply(say("skill_unlocked", given.language, name=literal(rest.lower())))

    def _taken_name(self, given: Invocation, installed: InstalledSkills, name: str, content: str = "") -> str:
        """Return why a new skill cannot have this name; empty if it can. `content` may have it already."""
        current = installed.approval(name)
        if current is not None and current.installed:
            taken = "" if current.digest == content else "skill_name_installed"
        else:
            skill = self._library.find(name)
            is_free = current is None and (skill is None or skill.origin is Origin.INSTALLED)
            is_shipped = skill is not None and skill.origin is Origin.SHIPPED
            taken = "" if is_free else "skill_name_shipped" if is_shipped else "skill_name_owner"
        return say(taken, given.language, name=literal(name), slash=given.slash) if taken else ""


def _person(given: Invocation) -> str:
    return f"{given.chat.platform}:{given.sender.id}"


def _bound(given: Invocation, proposal: Proposal) -> str:
    return say("skill_bound", given.language, code=proposal.code)


def _buttons(given: Invocation, proposal: Proposal, key: str) -> tuple[tuple[Button, ...], ...]:
    approve = Button(label=say(key, given.language), action=f"/skill approve {proposal.code}", style="primary")
    discard = Button(label=say("skill_discard_button", given.language), action=f"/skill discard {proposal.code}")
    return ((approve, discard),)


def _named(name: str) -> str:
    return code(name[:LONGEST_NAME])
