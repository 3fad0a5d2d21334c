"""One gateway, one user who never approves anything, and one obedient model."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from agent_core.messages import Frozen, JsonObject, ToolResultMessage, text_of
from agent_core.origin import CLEAN, named
from agent_core.skills.library import SkillLibrary
from agent_core.skills.skill import Origin
from agent_core.sources import server
from channels.base import Accepted, MessageReceived
from channels.memory import NO_PACE, Reply
from gateway.permissions.policy import Policy
from gateway.permissions.programs import shut_in
from gateway.permissions.workspaces import folder_name
from gateway.security.packages import ROOT
from tests.gateway.bot import Bot, BotOptions
from tests.gateway.remembering import RememberingChannel
from tests.gateway.tasking import rows
from tests.injections.obedient import DONE, Obedient, Step
from tests.injections.world import SAID, Web, World

MOST_CALLS = 60
WITHIN = 30.0
DESCRIPTION = "Looks up a word in the dictionary."


class Outcome(Frozen):
    """The outcome of a conversation."""

    harm: tuple[str, ...]
    questions: int
    tried: tuple[Step, ...]
    """Steps that the model took or tried to take."""
    failed: tuple[str, ...]
    """Messages of tools that failed."""
    searched: tuple[str, ...]
    """Queries to the search."""
    done: bool
    """True if the model finished and its answer was shown, which may be the preview of a job."""


class Scene:
    """Environment of the tests."""

    def __init__(self, bot: Bot, channel: RememberingChannel, world: World, model: Obedient) -> None:
        self.bot = bot
        self.channel = channel
        self.world = world
        self.model = model
        self.says_yes = False
        self._answered: set[str] = set()
        self._agreed: set[str] = set()

    def workspace(self, group: str | None = None) -> Path:
        """Return the workspace, creating it if needed."""
        folder = self.bot.home / "workspaces" / folder_name(self.channel.chat(group=group))
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    async def wants(
        self,
        *steps: JsonObject,
        words: str,
        group: str | None = None,
        quoted: str | None = None,
        files: Mapping[str, bytes] | None = None,
    ) -> None:
        """Send a message whose wish the model understands as these tool calls."""
        self.model.understands([Step.model_validate(step) for step in steps])
        text = f"{SAID} opens my door. {words}"
        await self._answering(self.channel.hears(text, group=group, reply=Reply(quoted=quoted), files=files), group)

    def remembers(self, words: str) -> None:
        """Store a fact of an earlier conversation with untrusted input."""
        folder = self.bot.home / "memory" / folder_name(self.channel.chat())
        folder.mkdir(parents=True)
        fact = " ".join(words.split())
        (folder / "MEMORY.md").write_text(f"2026-01-01|person, after strangers|{fact}\n", "utf-8")

    def remembers_own(self, words: str) -> None:
        """Store a fact of an earlier conversation without untrusted input."""
        folder = self.bot.home / "memory" / folder_name(self.channel.chat())
        folder.mkdir(parents=True)
        (folder / "MEMORY.md").write_text(f"2026-01-01|person|{words}\n", "utf-8")

    async def says(self, text: str) -> None:
        await self._answering(self.channel.hears(text), None)

    async def brings(self, event: MessageReceived) -> None:
        """Deliver a message that `hears` cannot produce."""
        group = event.chat.chat.removeprefix("#") if self.channel.is_group(event.chat) else None
        await self._answering(self.channel.deliver(event), group)

    def outcome(self) -> Outcome:
        results = [each for each in self.bot.llm.requests[-1].messages if isinstance(each, ToolResultMessage)]
        return Outcome(
            harm=(*self.world.harm, *self._set_jobs()),
            questions=len(self._answered),
            tried=tuple(self.model.tried),
            failed=tuple(text_of(each.content) for each in results if each.is_error),
            searched=tuple(self.world.searched),
            done=DONE in self.bot.screen[-1] or bool(self._proposals()),
        )

    async def _answering(self, said: Awaitable[Accepted], group: str | None) -> None:
        """Wait until everything is done, answering each question."""
        await said
        async with asyncio.timeout(WITHIN):
            is_settled = False
            while await self._answer(group) or not is_settled:
                settled = asyncio.create_task(self.bot.app.settled())
                done, _ = await asyncio.wait([settled], timeout=0.01)
                settled.cancel()
                is_settled = bool(done)
                if is_settled:
                    settled.result()

    async def _answer(self, group: str | None) -> bool:
        """Answer open questions; return False if there are none."""
        requests = self._open_questions() - self._answered
        proposals = self._proposals() - self._agreed if self.says_yes else set[str]()
        self._answered |= requests
        self._agreed |= proposals
        for request in requests:
            await self.channel.hears(f"{'/approve' if self.says_yes else '/deny'} {request}", group=group)
        for proposal in proposals:
            await self.channel.hears(f"/cron confirm {proposal}", group=group)
        return bool(requests or proposals)

    def _open_questions(self) -> set[str]:
        return self._offered("/deny ")

    def _proposals(self) -> set[str]:
        """Return the ids of job previews that wait for a confirmation."""
        return self._offered("/cron confirm ")

    def _offered(self, command: str) -> set[str]:
        actions = [button.action for _, said in self.channel.posts for row in said.buttons for button in row]
        return {action.removeprefix(command) for action in actions if action.startswith(command)}

    def _set_jobs(self) -> list[str]:
        """Return the active jobs."""
        return [f"job {work}" for (work,) in rows(self.bot.home, "SELECT work FROM jobs WHERE state = 'active'")]


@asynccontextmanager
async def scene(
    home: Path, web: Web, prepare: Callable[[World], None], *, asks_for_programs: bool = True
) -> AsyncIterator[Scene]:
    """Open a scene. `prepare` creates the content before the gateway starts. With `asks_for_programs` each program
    needs approval; otherwise programs run in a sandbox, as by default."""
    web.pages.clear()
    web.asked.clear()
    world, model, channel = World(web, mcp_description=DESCRIPTION), Obedient(), RememberingChannel()
    channel.limits = NO_PACE
    prepare(world)
    changed = named(server("words")) if world.mcp_description != DESCRIPTION else CLEAN
    skills = SkillLibrary([(ROOT / "skills", Origin.SHIPPED)])
    options = BotOptions(
        channel=channel,
        tools=world.tools(),
        described_by=lambda: changed,
        skills=skills,
        policy=Policy(shut_in=None if asks_for_programs else shut_in(skills, network=False)),
    )
    bot = Bot(home, [model] * MOST_CALLS, options)
    await bot.start()
    try:
        yield Scene(bot, channel, world, model)
    finally:
        await bot.stop()
