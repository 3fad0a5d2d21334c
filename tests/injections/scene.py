"""One house, one person who never says yes, and one obedient model."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from agent_core.clock import SystemClock
from agent_core.messages import Frozen, JsonObject, ToolResultMessage, text_of
from agent_core.models.scripted import SCRIPTED_MODEL, ScriptedLlm
from agent_core.skills.library import SkillLibrary
from agent_core.skills.skill import Origin
from channels.base import Accepted, MessageReceived
from gateway.agents import AgentParts
from gateway.approvals import new_request_id
from gateway.folders import folder_name
from gateway.packages import ROOT
from gateway.policy import Policy
from tests.gateway.bot import NO_PACE, Bot
from tests.gateway.remembering import RememberingChannel
from tests.gateway.tasking import rows
from tests.injections.obedient import DONE, Obedient, Step
from tests.injections.world import SAID, Web, World

MOST_CALLS = 60
WITHIN = 30.0
DESCRIPTION = "Looks up a word in the dictionary."


class Outcome(Frozen):
    """What came of a conversation."""

    harm: tuple[str, ...]
    questions: int
    tried: tuple[Step, ...]
    """What the model did, or tried to do."""
    failed: tuple[str, ...]
    """What tools said that did not work."""
    done: bool
    """The model came to its end, and its answer was shown."""


class Scene:
    """What tests talk to."""

    def __init__(self, bot: Bot, channel: RememberingChannel, world: World, model: Obedient) -> None:
        self.bot = bot
        self.channel = channel
        self.world = world
        self.model = model
        self.says_yes = False
        self._answered: set[str] = set()
        self._agreed: set[str] = set()

    def workspace(self, group: str | None = None) -> Path:
        """Made where it is not there."""
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
        """The person says it in these words, and the model understands that these calls are wanted."""
        self.model.understands([Step.model_validate(step) for step in steps])
        text = f"{SAID} opens my door. {words}"
        await self._answering(self.channel.hears(text, group=group, quoted=quoted, files=files), group)

    def remembers(self, words: str) -> None:
        """A fact of an earlier conversation, in which strangers had a word."""
        folder = self.bot.home / "memory" / folder_name(self.channel.chat())
        folder.mkdir(parents=True)
        fact = " ".join(words.split())
        (folder / "MEMORY.md").write_text(f"2026-01-01|person, after strangers|{fact}\n", "utf-8")

    async def says(self, text: str) -> None:
        await self._answering(self.channel.hears(text), None)

    async def brings(self, event: MessageReceived) -> None:
        """A message that only a platform can make."""
        group = event.chat.chat.removeprefix("#") if self.channel.is_group(event.chat) else None
        await self._answering(self.channel.deliver(event), group)

    def outcome(self) -> Outcome:
        results = [each for each in self.bot.llm.requests[-1].messages if isinstance(each, ToolResultMessage)]
        return Outcome(
            harm=(*self.world.harm, *self._set_jobs()),
            questions=len(self._answered),
            tried=tuple(self.model.tried),
            failed=tuple(text_of(each.content) for each in results if each.is_error),
            done=DONE in self.bot.screen[-1],
        )

    async def _answering(self, said: Awaitable[Accepted], group: str | None) -> None:
        """Until all is said and done, each question is answered."""
        await said
        settled = asyncio.create_task(self.bot.house.handler.settled())
        answer = "/approve" if self.says_yes else "/deny"
        async with asyncio.timeout(WITHIN):
            while not settled.done():
                for request in self._open_questions() - self._answered:
                    self._answered.add(request)
                    await self.channel.hears(f"{answer} {request}", group=group)
                for proposal in self._proposals() - self._agreed if self.says_yes else ():
                    self._agreed.add(proposal)
                    await self.channel.hears(f"/cron confirm {proposal}", group=group)
                await asyncio.wait([settled], timeout=0.01)
        await settled

    def _open_questions(self) -> set[str]:
        return self._offered("/deny ")

    def _proposals(self) -> set[str]:
        """Jobs of which people are shown what they would do, and when."""
        return self._offered("/cron confirm ")

    def _offered(self, command: str) -> set[str]:
        actions = [button.action for _, said in self.channel.posts for row in said.buttons for button in row]
        return {action.removeprefix(command) for action in actions if action.startswith(command)}

    def _set_jobs(self) -> list[str]:
        """Those that will be done."""
        return [f"job {work}" for (work,) in rows(self.bot.home, "SELECT work FROM jobs WHERE state = 'active'")]


@asynccontextmanager
async def scene(home: Path, web: Web, prepare: Callable[[World], None]) -> AsyncIterator[Scene]:
    """`prepare` lays out what can be found before the house opens."""
    web.pages.clear()
    web.asked.clear()
    world, model, channel = World(web, mcp_description=DESCRIPTION), Obedient(), RememberingChannel()
    channel.limits = NO_PACE
    prepare(world)
    llm = ScriptedLlm(*[model] * MOST_CALLS)
    policy = Policy(strangers_describe_tools=world.mcp_description != DESCRIPTION)
    skills = SkillLibrary([(ROOT / "skills", Origin.SHIPPED)])
    parts = AgentParts(llm=llm, model=SCRIPTED_MODEL, tools=world.tools(), policy=policy, skills=skills)
    bot = Bot(home, llm, channel, parts, SystemClock(), new_request_id)
    await bot.start()
    try:
        yield Scene(bot, channel, world, model)
    finally:
        await bot.stop()
