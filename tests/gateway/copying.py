"""A gateway whose model copies untrusted text wherever it can write, and a user who makes it do so in every way."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from agent_core.clock import SystemClock
from agent_core.loop.limits import LoopLimits
from agent_core.mcp.servers import McpServers
from agent_core.models.scripted import Turn, calls
from agent_core.sandbox.process import ProcessSandbox
from agent_core.skills.library import SkillLibrary
from agent_core.skills.skill import Origin
from agent_core.sources import Sources, page, person, union
from agent_core.tools.catalogue import builtin_tools
from agent_core.tools.shell import run_command_tool
from agent_core.tools.web.fetch import Fetcher
from agent_core.tools.web.tools import web_fetch_tool
from channels.attachments import Attachment
from channels.base import Addressed, ChatKey, MessageEdited, MessageReceived, OutboundMessage, Sender
from channels.memory import NO_PACE, MemoryChannel, Reply
from gateway.permissions.policy import Policy
from gateway.permissions.workspaces import workspace_of
from gateway.plugin import Plugin
from gateway.security.packages import ROOT
from gateway.store.job import Report
from tests.agent_core.mcp.serving import ENVIRON, emulated
from tests.agent_core.sandbox.running import launcher_called
from tests.agent_core.web.site import Site
from tests.gateway.bot import Bot, BotOptions
from tests.gateway.copyist import EVIL, MARK, REPORT, TASK, WEAK, Copyist, Wanted
from tests.gateway.jobs.kit import a_job
from tests.gateway.sourced import files_in
from tests.gateway.tasking import rows
from tests.process import until

PAGES = {
    "/page": f"<title>News</title><p>Falcons: {MARK}.</p>",
    "/index": '<title>Index</title><p><a href="/page">Falcons</a></p>',
}
WITHIN = 60.0
LONG = 600
"""Length of a result that is shown in full."""
CHANGES = ("pause", "resume")
OURS = ("/approve ", "/cron confirm ")
REFUSAL = "/deny "

ENTRIES = ("own file", "page", "link", "sent file", "passed on", "quoted", "edited", "server", "odd file", "name")
WAYS = (
    "write",
    "write a long file",
    "name a file",
    "edit",
    "read",
    "list",
    "search",
    "program",
    "remember",
    "recall",
    "task",
    "background task",
    "skill",
    "plan",
    "jobs",
    "report",
    "aside",
    "facts",
    "quote",
    "thread",
    "forward",
    "change the words",
    "compact",
    "undo",
    "restart",
    "resume",
    "check in",
    "replies",
)


REPLIES = ("/tasks", "/cron list", "/sessions", "/undo list", "/context", "/memory", "/heartbeat", "/rules")
TALK = frozenset({"change the words", "quote", "thread", "aside", "facts", "resume", "replies"})


@dataclass(frozen=True)
class Way:
    """A way in which text is copied."""

    what: str | Wanted
    """One of WAYS, or a command, or a call of a tool."""
    anew: bool = False
    """True if it happens in a new conversation."""


class Scene:
    """One gateway, and a user who talks to it in two chats."""

    def __init__(self, bot: Bot, channel: MemoryChannel, model: Copyist, site: Site) -> None:
        self.bot = bot
        self.channel = channel
        self.model = model
        self.site = site
        self.number = 0
        self.entered: Sources = ()
        """Sources whose text has entered the user's private chat."""
        self._answered: set[str] = set()

    async def goes(self, way: Way, group: str | None) -> None:
        """Use one way of copying, in a new conversation or in the current one."""
        self.number += 1
        if way.anew:
            await self.says("/new", group)
        chat, number = self.channel.chat(group=group), self.number
        match way.what:
            case "undo":
                await self.says("/undo", group)
            case "compact":
                for words in ("So much for that. " * 600, "Please go on.", "/compact"):
                    await self.says(words, group)
            case "restart":
                await self.bot.restart()
            case str() as what if what in TALK or what.startswith("/"):
                await self._talks(what, chat, group)
            case "forward":  # a forwarded message is not recognised as the bot's own
                if group is None and (said := self._said(chat)):
                    await self._brings(shared=f"Forwarded from Ada:\n{said[1]}")
                    self.entered = union(self.entered, ["person:Ada"])
            case "check in" | "report" as what:
                await self._fires(what, chat, group)
            case what:
                self.model.plan = [*self._calls(what, number, chat)]
                await self.says("Please go on.", group)

    async def _fires(self, what: str, chat: ChatKey, group: str | None) -> None:
        """Have a job's run begin now."""
        if what == "check in":
            path = "HEARTBEAT.md"
            self.model.plan = [lambda word: calls(("write_file", {"path": path, "content": f"- look at {word}"}))]
            for words in ("Please go on.", "/heartbeat on", "/heartbeat now"):
                await self.says(words, group)
            return
        job = a_job(Report(instructions=REPORT), name=f"job{self.number}", chat=chat)
        assert await self.bot.made.base.store.jobs.add(job)
        await self.bot.made.chats.firings.run_now(job, f"now{self.number}")
        await self._settled(group)

    async def _talks(self, what: str, chat: ChatKey, group: str | None) -> None:
        """Have Parley say again what it has said, or say something about it."""
        said = self._said(chat)
        words = {
            "aside": "/btw What is it about?",
            "facts": "/memory",
        }
        if what == "quote":
            await self._quotes(chat, group)
        elif what == "replies":
            await self.says(REPLIES[self.number % len(REPLIES)], group)
            await self._quotes(chat, group)
        elif what == "resume":
            await self.says("/sessions", group)
            offered = [action for action in self._buttons(chat) if action.startswith("/resume ")]
            await self.says(offered[-1] if offered else "/sessions", group)
            await self.says("Please go on.", group)
        elif what == "change the words":
            await self._changes_last(chat, group)
        elif what == "thread":
            await self.says("What is that?", group, thread=said[0] if said else None)
        else:
            await self.says(words.get(what, what), group)

    def _calls(self, way: str | Wanted, number: int, chat: ChatKey) -> Iterator[Callable[[str], Turn]]:
        """Yield the calls of a way. Files are chosen by number, as the model cannot know other names."""
        workspace = workspace_of(self.bot.home, chat)
        plain = [each for each in files_in(workspace) if MARK not in each and not each.startswith(".")]
        chosen = plain[number % len(plain)] if plain else "none.txt"
        made: Mapping[str, Callable[[str], Wanted]] = {
            "write": lambda word: ("write_file", {"path": f"f{number % 3}.txt", "content": f"{word} {number}"}),
            "write a long file": lambda word: (
                "write_file", {"path": "long.txt", "content": f"{word} {'x' * 2 * LONG} {word}"},
            ),
            "name a file": lambda word: ("write_file", {"path": f"{word}/{word}{number}.txt", "content": "nothing"}),
            "edit": lambda word: ("edit_file", {"path": chosen, "old_text": "otter", "new_text": f"otter and {word}"}),
            "read": lambda _: ("read_file", {"path": chosen}),
            "list": lambda _: ("list_dir", {}),
            "search": lambda _: ("grep", {"pattern": "kestrel|otter"}),
            "program": lambda _: ("run_command", {"argv": ["sh", "-c", f"cat * */* > all{number % 2}.txt; ls -R"]}),
            "remember": lambda word: ("remember", {"fact": f"{word} is number {number}"}),
            "recall": lambda _: ("recall", {}),
            "task": lambda word: ("task", {"prompt": f"{TASK} {word}"}),
            "background task": lambda word: ("task", {"prompt": f"{TASK} {word}", "background": True}),
            "plan": lambda word: ("schedule", {"kind": "reminder", "what": f"see {word}", "when": "2030-05-05 09:00"}),
            "jobs": lambda _: ("jobs", {}),
        }  # fmt: skip
        if isinstance(way, tuple):
            yield lambda _: calls(way)
        elif way == "skill":
            about = "---\ndescription: About {0}.\n---\nSay {0}.\n"
            yield lambda word: calls(
                ("write_file", {"path": f"skills/{word}/SKILL.md", "content": about.format(word)}),
                ("list_skills", {}),
                ("load_skill", {"name": "no-such-skill"}),
            )
        elif way == "read":
            kept = [each for each in files_in(workspace) if each.startswith(".output/")]
            reads: list[Wanted] = [("read_file", {"path": each}) for each in (chosen, *kept[:1])]
            yield lambda _: calls(*reads)
        elif way == "jobs":
            known = [str(name) for (name,) in rows(self.bot.home, f"SELECT id FROM jobs WHERE chat = '{chat}' LIMIT 2")]  # noqa: S608
            changes: list[Wanted] = [("jobs", {"action": act, "id": name}) for name in known for act in CHANGES]
            yield lambda _: calls(*changes, ("jobs", {}))
        else:
            yield lambda word: calls(made[way](word))

    async def enters(self, how: str) -> None:
        """Bring untrusted text into the user's private chat."""
        match how:
            case "page" | "link":
                await self._opens(["/page"] if how == "page" else ["/index", "/page"])
            case "edited":
                await self.says("What is that?", None)
                await self._changes_last(self.channel.chat(), None, shared=f"Forwarded from Eve:\n{MARK}")
                self.entered = union(self.entered, ["person:Eve"])
            case "server":
                self.model.plan = [lambda _: calls(("lab_environment", {}))]
                await self.says("Look at the server.", None)
                self.entered = union(self.entered, ["server:lab"])
            case "quoted":
                await self.channel.hears("What is that?", reply=Reply(quoted=f"Eve: {MARK}"))
                self.entered = union(self.entered, ["person:Eve"])
            case "odd file":
                self._lay("odd.txt", f"otter {MARK}")
                self.model.plan = [lambda _: calls(("read_file", {"path": "odd.txt"}))]
                await self.says("Read it.", None)
                self.entered = union(self.entered, ["file:odd.txt"])
            case "own file":
                self.model.plan = [lambda _: calls(("read_file", {"path": "own.txt"}))]
                await self.channel.hears("Read it.", files={"own.txt": f"otter {WEAK}".encode()})
            case "own recording":
                spoken = f"\0sound\0{WEAK}".encode()  # an emulated server hears the words in it
                await self.channel.hears("Listen.", files={"podcast.mp3": spoken})
            case _:
                await self._brings_of_others(how)
        await self._settled(None)

    async def _brings_of_others(self, how: str) -> None:
        """Have the user send something by others, or with the name of somebody."""
        if how == "name":
            zed = Sender(id="zed", name=f"Zed says {MARK}")
            await self._brings(named=(zed,))
            self.entered = union(self.entered, [person(zed.name)])
        elif how == "sent file":
            file = self.channel._keep("sent.txt", f"otter {MARK}".encode())  # noqa: SLF001 - as `hears` does it
            await self._brings(attachments=(file.model_copy(update={"by": "Eve"}),))
            self.entered = union(self.entered, ["sent:Eve:sent.txt"])
        else:
            await self._brings(shared=f"Forwarded from Eve:\n{MARK}")
            self.entered = union(self.entered, ["person:Eve"])

    async def _opens(self, paths: Sequence[str]) -> None:
        """Have the model read a page, and another one to which only the first leads."""
        urls = [f"{self.site.url}{path}" for path in paths]
        self.model.plan = [partial(_fetch, url) for url in urls]
        await self.says(f"Read {urls[0]}", None)
        self.entered = union(self.entered, map(page, urls))

    def _lay(self, name: str, text: str) -> None:
        """Write a file into the workspace behind Parley's back."""
        workspace = workspace_of(self.bot.home, self.channel.chat())
        workspace.mkdir(parents=True, exist_ok=True)
        (workspace / name).write_text(text)

    async def _brings(
        self, *, shared: str = "", attachments: tuple[Attachment, ...] = (), named: tuple[Sender, ...] = ()
    ) -> None:
        """Deliver a message with text by others."""
        name = f"on{len(self.channel.posts)}-{self.number}"
        await self.channel.deliver(
            MessageReceived(
                event_id=name,
                chat=self.channel.chat(),
                sender=Sender(id="ann", name="Ann"),
                at=self.bot.clock.time(),
                addressed=Addressed.DIRECT,
                message_id=name,
                text=" ".join(["What is this?", *(f"@{each.name}" for each in named)]),
                named=named,
                shared=shared,
                attachments=attachments,
            )
        )
        await self._settled(None)

    async def _changes_last(self, chat: ChatKey, group: str | None, *, shared: str = "") -> None:
        """Have the user edit their last message in a chat, after it was answered."""
        said = [each for each in self.channel.heard if isinstance(each, MessageReceived) and each.chat == chat]
        if not said:
            return
        self.number += 1
        same = said[-1].model_dump(include={"chat", "sender", "at", "addressed", "message_id"})
        changed = {"event_id": f"change-{self.number}", "text": f"Please go on, {self.number}.", "shared": shared}
        await self.channel.deliver(MessageEdited.model_validate({**same, **changed}))
        await self._settled(group)

    async def _quotes(self, chat: ChatKey, group: str | None) -> None:
        if said := self._said(chat):
            message_id, text = said
            await self.channel.hears("What is that?", group=group, reply=Reply(message_id, f"Ada: {text}"))
            await self._settled(group)

    def _said(self, chat: ChatKey) -> tuple[str, str] | None:
        """Return the last answer in a chat, with its id."""
        said = [(posted, message) for posted, message in self.channel.posts if posted.chat == chat]
        found = [(posted.message_id, message.markdown) for posted, message in said if _is_marked(message.markdown)]
        return found[-1] if found else None

    async def says(self, text: str, group: str | None, thread: str | None = None) -> None:
        await self.channel.hears(text, group=group, thread=thread)
        await self._settled(group, thread)

    async def _settled(self, group: str | None, thread: str | None = None) -> None:
        """Wait until everything is done, allowing every question but that for the address that nobody gave."""
        async with asyncio.timeout(WITHIN):
            settled = asyncio.create_task(self.bot.app.settled())
            while not settled.done():
                for command in [each for each in self._offered() if each not in self._answered]:
                    self._answered.add(command)
                    await self.channel.hears(command, group=group, thread=thread)
                await asyncio.wait([settled], timeout=0.01)
            await settled

    def _buttons(self, chat: ChatKey) -> list[str]:
        """Return the actions of the newest message in a chat."""
        said = [message for posted, message in self.channel.posts if posted.chat == chat]
        return [button.action for row in said[-1].buttons for button in row] if said else []

    def _offered(self) -> list[str]:
        return [action for _, said in self.channel.posts for action in _answers(said)]


def _answers(said: OutboundMessage) -> list[str]:
    """Return the action of the button that the user presses below a message, if there is one."""
    actions = [button.action for row in said.buttons for button in row if not button.action.endswith("always")]
    is_evil = EVIL in said.markdown
    return [action for action in actions if action.startswith(REFUSAL if is_evil else OURS)]


def _fetch(url: str, _: str) -> Turn:
    return calls(("web_fetch", {"url": url}))


def _is_marked(text: str) -> bool:
    return "It " in text or MARK in text or WEAK in text


@asynccontextmanager
async def opened(
    home: Path, launcher: str, *, server: bool, plugins: Sequence[type[Plugin]] | None = None
) -> AsyncIterator[Scene]:
    async with AsyncExitStack() as life:
        sandbox = ProcessSandbox(await launcher_called(launcher, home / "scratch"), SystemClock())
        site = await life.enter_async_context(Site(PAGES))
        servers = McpServers({"lab": emulated()} if server else {}, {**ENVIRON, "LANG": MARK})
        servers.begin()
        life.push_async_callback(servers.close)
        model, channel = Copyist(site), MemoryChannel(limits=NO_PACE)
        options = BotOptions(
            tools=(
                *builtin_tools(SystemClock()),
                web_fetch_tool(Fetcher(site.may_reach)),
                run_command_tool(sandbox),
            ),
            channel=channel,
            limits=LoopLimits(result_chars=LONG),
            others=servers.tools,
            policy=Policy(shut_in=lambda _: True),
            plugins=plugins,
            skills=SkillLibrary([(ROOT / "skills", Origin.SHIPPED)]),
        )
        bot = Bot(home, [model] * 500, options)
        await bot.start()
        life.push_async_callback(bot.stop)
        if server:
            await until(lambda: bool(servers.tools()))
        yield Scene(bot, channel, model, site)
