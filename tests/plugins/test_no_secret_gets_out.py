"""No text of a plugin reaches a chat, the page, a program or the model with a secret in it, however spelled."""

import html
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import ClassVar

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from agent_core.loop.permissions import Proposal
from agent_core.models.scripted import calls
from agent_core.origin import CLEAN
from agent_core.tools.tool import Tool, ToolFailed, tool
from channels.base import Button, OutboundMessage
from channels.commands import Suggestion, Typed
from channels.memory import user
from gateway.admin.screen import Screen, View, Visit
from gateway.admin.tables import Action, PlainTable, tables_view
from gateway.chat.received_files import FileContents, ReceivedFile
from gateway.chat.replies import Answer, Rewritten, Settling
from gateway.chat.sounds import Heard, Sound
from gateway.commands.command import Command, Invocation, Unfinished, reply
from gateway.commands.press import Press, press_action
from gateway.permissions.gates import Objection
from gateway.permissions.rights import LOOK, TALK, always
from gateway.plugin import Duty, Plugin, Running
from gateway.runs.owed import Doer
from gateway.runs.run_buttons import RunButton
from gateway.security.masking import MASK
from gateway.security.secrets import Secrets
from gateway.store.connection import Connection
from gateway.store.owed import Owed
from gateway.store.rows import InboxItem, Post, Run, RunEnd
from gateway.texts.say import Language, remove_texts, say
from gateway.web.route import Answer as RouteAnswer
from gateway.web.route import Asked, Route
from tests.examples import examples
from tests.gateway.admin.desk import AdminWorld, admin_world
from tests.gateway.admin.test_pages import act
from tests.gateway.test_secrets import FORMS
from tests.postgres import execute

ROWS = "SELECT body FROM outbox UNION ALL SELECT message FROM transcript UNION ALL SELECT payload FROM inbox"
KEYS = st.text(st.sampled_from("abcdefghkmnpqrstuvwxyzABCDEFGHKLMNPQRSTUVWXYZ23456789-_+/.:&<\"'%"), min_size=20)
CUT = 290
"""Characters before a secret that is cut where reasons are."""


class Says(Plugin):
    """Says the same words in every way that a plugin has."""

    name = "says"
    words: ClassVar[str]
    tool_names = frozenset({"says_words", "says_failure", "says_refused"})
    paths = frozenset({"/says"})

    def tools(self) -> Sequence[Tool]:
        @tool(label=f"Saying {self.words}", labels={"zh": self.words})
        async def says_words() -> str:
            """Say them."""
            return self.words

        @tool(label="Failing", labels={"zh": "失败"})
        async def says_failure() -> str:
            """Fail."""
            raise ToolFailed(self.words, self.words)

        @tool(label="Objecting", labels={"zh": "反对"})
        async def says_refused() -> str:
            """Is refused."""
            return ""

        return (says_words, says_failure, says_refused)

    def commands(self) -> Sequence[Command]:
        async def answer(given: Invocation) -> Answer:
            match given.arguments:
                case "fails":
                    raise RuntimeError(f"{'x ' * (CUT // 2)}{self.words}")
                case "settles":
                    return Settling(lambda _: reply(self.words))
                case "text":
                    return reply(say("says_words", given.language))
            button = Button(label=self.words, action=press_action("says", "them"))
            return OutboundMessage(markdown=f"Press below {self.words}", buttons=((button,),))

        async def offered(typing: Unfinished) -> Iterable[Suggestion]:
            return [Suggestion(value=self.words, label=self.words)]

        about: Mapping[Language, str] = {"en": f"Say {self.words}", "zh": self.words}
        return (Command("says", about, answer, rights=always(LOOK), arguments="[WHAT]", suggest=offered),)

    def presses(self) -> Sequence[Press]:
        async def press(given: Invocation) -> Answer:
            return Rewritten(reply(self.words))

        return (Press("them", press, always(TALK)),)

    def screens(self) -> Sequence[Screen]:
        return (Page(self),)

    def routes(self, running: Running) -> Mapping[str, Route]:
        async def route(asked: Asked) -> RouteAnswer:
            return RouteAnswer(self.words.encode() + b"\xff", headers={"X-Words": self.words})

        return {"/says": route}

    def duties(self, running: Running) -> Mapping[str, Duty]:
        return {"say": self._say}

    async def _say(self) -> None:
        [chat, *_] = self.core.delivery.connected
        post = Post("said", "said", chat.chat("ann"), OutboundMessage(markdown=f"On duty {self.words}"), CLEAN)  # type: ignore[attr-defined]
        await self.core.store.outbox.add([post])
        await self.core.delivery.deliver(post.chat, [post])

    def owed(self) -> Mapping[str, Doer]:
        async def do(item: Owed) -> Sequence[Post]:
            return [Post(f"{item.run}:0", item.run, item.chat, OutboundMessage(markdown=self.words), CLEAN)]

        return {"words": do}

    def ended(self, run: Run, how: RunEnd, tx: Connection) -> Iterable[Owed]:
        return [Owed("words", run.id, run.chat)]

    async def hear(self, item: InboxItem, run: Run | None, sound: Sound, language: Language) -> Heard | None:
        return Heard(self.words, shown=self.words)

    async def read(
        self, item: InboxItem, run: Run | None, file: ReceivedFile, room: int, language: Language
    ) -> FileContents | None:
        return FileContents(self.words, shown=self.words)

    async def before_call(self, call: Proposal) -> Objection | None:
        return Objection("says_words") if call.call.name == "says_refused" else None


class Page:
    """A screen that says the words."""

    name = "says"

    def __init__(self, plugin: Says) -> None:
        self._plugin = plugin

    async def view(self, visit: Visit) -> View:
        words = self._plugin.words
        table = PlainTable(words, [words], [[words], [Action(f"/says {words}", words)]], words)
        return tables_view(table, about=words)


def saying(said: str) -> type[Says]:
    """Return the plugin with these words in all its texts."""
    button = RunButton("says", {"en": said, "zh": said}, "page")
    texts = {key: {"en": said.translate({123: "{{", 125: "}}"}), "zh": "话"} for key in ("says_words", "page_says")}
    return type("Saying", (Says,), {"words": said, "run_buttons": (button,), "texts": texts})


# The ways on which words get out. Each returns what somebody else has then.


async def in_chats(world: AdminWorld) -> str:
    bot = world.bot
    for line in ("/says", "/says settles", "/says text", "/says fails", "/plugins", "/help all"):
        await bot.hears(line)
    await bot.channel.presses("/says_them")
    await bot.app.settled()
    return str([message.model_dump_json() for _, message in bot.channel.posts])


async def in_duties(world: AdminWorld) -> str:
    async with world.bot.on_duty():
        await world.bot.channel.until(lambda: any("On duty" in line for line in world.bot.screen))
    return world.bot.screen[-1]


async def for_the_model(world: AdminWorld) -> str:
    bot = world.bot
    bot.llm.add(calls(("says_words", {})), calls(("says_failure", {})), calls(("says_refused", {})), "Done.")
    await bot.hears("work", files={"voice.ogg": b"...", "plan.pdf": b"..."})
    said = [message.model_dump_json() for _, message in bot.channel.posts]
    return str([*said, *(str(request) for request in bot.llm.requests)])


async def in_menus(world: AdminWorld) -> str:
    bot = world.bot
    typed = Typed(command="says", option="what", text="")
    offered = await bot.made.commands.suggest(bot.channel.chat("ann"), user("ann"), typed)
    return str([each.model_dump_json() for each in (*offered, *bot.channel.menu.commands)])


async def on_the_page(world: AdminWorld) -> str:
    [(run,), *_] = execute(world.bot.home, None, "SELECT run FROM transcript WHERE run IS NOT NULL")
    shown: list[str] = []
    async with world.client() as client:
        for path in ("says", "runs", f"runs/{run}", "inbox", "health", "log"):
            async with client.get(f"/admin/{path}") as answer:
                shown.append(await answer.text())
        shown.append(await act(client, "/says"))
    return html.unescape("\n".join(shown))


async def in_routes(world: AdminWorld) -> str:
    answer = await world.bot.answers("/says")
    assert answer.body.endswith(b"\xff")
    return f"{answer.body.decode(errors='replace')}{answer.headers}"


Way = Callable[[AdminWorld], Awaitable[str]]
WAYS: Sequence[Way] = (in_chats, for_the_model, in_duties, in_menus, on_the_page, in_routes)


def plain(text: str) -> str:
    """Return a text without what may be between the characters of a secret."""
    return re.sub(r"[\s\\>\u200b]|\\n", "", text).casefold()


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=examples(30), deadline=None, database=None
)
@given(secret=KEYS, form=st.sampled_from(sorted(FORMS)))
@example(secret='quoted"22222222', form="as it is")  # noqa: S106 (made up)
@example(secret="less<22&22222222", form="as it is")  # noqa: S106
async def test_no_way_shows_a_secret(tmp_path_factory: pytest.TempPathFactory, secret: str, form: str) -> None:
    said = FORMS[form](secret)
    plugin = saying(f"({said})")
    try:
        async with admin_world(tmp_path_factory.mktemp("says"), plugins=(plugin,), secrets=Secrets([secret])) as world:
            for way in WAYS:
                found = await way(world)
                assert MASK in found, way
                assert plain(said) not in plain(found), way
                assert secret not in found, way
            assert plain(said) not in plain(str(execute(world.bot.home, None, ROWS)))
    finally:
        remove_texts(plugin.texts)
