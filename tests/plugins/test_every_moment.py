"""Whatever a plugin adds may fail in any way: what is in hand is answered, and other plugins get their turn.

The tables have a row for each member of `Plugin`: one that is added without a row fails here.
"""

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from agent_core.messages import text_of
from agent_core.models.llm import LlmOptions
from agent_core.models.scripted import calls
from channels.commands import Typed
from channels.memory import user
from gateway.admin import watch
from gateway.app.moments import (
    CLOSE_WITHIN,
    HEAR_WITHIN,
    HOLD_WITHIN,
    PROMPT_WITHIN,
    READ_WITHIN,
    SUMMARISED_WITHIN,
    TAKE_OVER_WITHIN,
)
from gateway.app.plugin_commands import COMMAND_WITHIN, PRESS_WITHIN, SUGGEST_WITHIN
from gateway.app.plugin_models import LOOK_UP_WITHIN
from gateway.app.plugin_reports import MAKE_WITHIN
from gateway.app.plugin_routes import ROUTE_WITHIN
from gateway.app.plugins import OWED_WITHIN
from gateway.permissions.gates import GATE_WITHIN
from gateway.plugin import Plugin
from gateway.records.plugin_failures import PluginFailures
from gateway.runs import owed as owed_work
from gateway.settings.settings import Settings
from tests.clock import Hasty
from tests.gateway.admin.desk import admin_world
from tests.gateway.bot import Bot
from tests.gateway.conftest import StartBot
from tests.gateway.test_context_commands import LONG, with_facts
from tests.gateway.test_forget import erases
from tests.gateway.test_origin_of_posts import last_prompt
from tests.plugins.acting import EXITS, HANGS, IS_ODD, RAISES, Acts, acting
from tests.plugins.hanging import HANG
from tests.plugins.packages import Packages
from tests.plugins.test_moments import reacts
from tests.plugins.test_plugins_command import about
from tests.postgres import execute

FAILED = "The plugin bad failed and could not do that. /plugins bad tells why."


# What each failure leaves as it is


@dataclass(frozen=True)
class Scene:
    """A bot with one plugin that fails, and one that does not."""

    bot: Bot
    near: type[Acts]
    how: str

    @property
    def failing(self) -> list[str]:
        return failing(self.bot.made.base.system.plugins.failures)


def failing(failures: PluginFailures) -> list[str]:
    """Return the plugins with failures."""
    return [name for name in ("bad", "near") if failures.of(name)]


async def commands_go_on(scene: Scene) -> None:
    await scene.bot.hears("/bad")
    await scene.bot.hears("/near")
    assert scene.bot.screen[-2:] == [FAILED, "near did it"]


async def no_values_are_offered(scene: Scene) -> None:
    bot = scene.bot
    session = bot.made.chats.sessions.of(bot.channel.chat("ann"))
    for name in ("bad", "near"):
        typed = Typed(command=name, option="what", text="")
        assert await bot.made.commands.table.suggest(session, user("ann"), typed) == []
    assert "commands, their values" in scene.near.noted


async def reports_go_on(scene: Scene) -> None:
    await scene.bot.hears("/report bad")
    assert scene.bot.screen[-1].startswith("The plugin bad failed and could not do that.")
    await scene.bot.hears("/report near")
    assert scene.bot.screen[-1].endswith("**Now it would say:**\n\nnear made it")


async def presses_go_on(scene: Scene) -> None:
    for name in ("bad", "near"):
        await scene.bot.hears(f"/{name}_show")
        await scene.bot.channel.presses(f"Press {name}")
        await scene.bot.app.settled()
    assert [said for said in scene.bot.screen if said != "A button."] == [FAILED, "near was pressed"]


async def the_model_calls_the_next_tool(scene: Scene) -> None:
    scene.bot.llm.add(calls(("bad_work", {})), calls(("near_work", {})), "Done.")
    await scene.bot.hears("work")
    assert "near has worked" in str(scene.bot.llm.requests[-1].messages)
    assert "Done." in scene.bot.screen


async def the_setting_is_refused(scene: Scene) -> None:
    await scene.bot.hears("/config set model bad/one")
    await scene.bot.hears("/config set fallbacks near/one")
    assert "The plugin bad failed to look up the model bad/one" in scene.bot.screen[0].replace("\\", "")
    assert "near/one" in scene.bot.screen[1].replace("\\", "")
    await scene.bot.hears("/config reset fallbacks")


async def another_model_answers(scene: Scene) -> None:
    scene.bot.llm.add("I am another one.")
    await scene.bot.hears("/config set models bad/one, near/one")
    for name in ("bad", "near"):
        await scene.bot.hears(f"/model {name}/one")
        await scene.bot.hears("who is there?")
    assert any("I am another one." in said for said in scene.bot.screen)
    assert any("near answers" in said for said in scene.bot.screen)
    await scene.bot.hears("/model default")


async def routes_go_on(scene: Scene) -> None:
    assert (await scene.bot.answers("/bad")).status == 500
    assert (await scene.bot.answers("/near")).body == b"fine"


async def duties_go_on(scene: Scene) -> None:
    async with scene.bot.on_duty():
        await scene.bot.channel.until(lambda: "duties" in scene.near.noted)
        if scene.how != HANGS:
            await scene.bot.channel.until(lambda: bool(scene.failing))


async def what_others_owe_is_done(scene: Scene) -> None:
    scene.bot.llm.add("Done.")
    await scene.bot.channel.hears("work")
    await scene.bot.channel.until(lambda: {"Done.", "near owed this"} <= {*scene.bot.screen})
    await scene.bot.app.settled()
    assert await scene.bot.made.base.store.owed.left() == []


async def the_next_one_hears(scene: Scene) -> None:
    scene.bot.llm.add("Done.")
    await scene.bot.hears("", files={"voice.ogg": b"..."})
    assert text_of(last_prompt(scene.bot).content) == "near heard it"
    assert "Done." in scene.bot.screen


async def the_next_one_reads(scene: Scene) -> None:
    scene.bot.llm.add("Done.")
    await scene.bot.hears("look", files={"plan.pdf": b"..."})
    assert "[plan.pdf reads:]\nnear read it" in (last_prompt(scene.bot).context or "")
    assert "Done." in scene.bot.screen


async def others_are_told_of_the_reaction(scene: Scene) -> None:
    scene.bot.llm.add("Done.")
    await scene.bot.hears("hi")
    await reacts(scene.bot, "👍")
    assert "reacted" in scene.near.noted
    assert "Done." in scene.bot.screen


async def the_run_begins(scene: Scene) -> None:
    scene.bot.llm.add("Done.")
    await scene.bot.hears("hi")
    assert "hold" in scene.near.noted
    assert "Done." in scene.bot.screen


async def the_others_note_is_read(scene: Scene) -> None:
    scene.bot.llm.add("Done.")
    await scene.bot.hears("hi")
    assert (last_prompt(scene.bot).context or "").splitlines()[1:] == ["near notes it"]
    assert "Done." in scene.bot.screen


async def others_are_told_what_a_summary_found(scene: Scene) -> None:
    scene.bot.llm.add(*[with_facts] * 7)
    for _ in range(6):
        await scene.bot.hears(LONG)
    await scene.bot.hears("/compact")
    assert "summarised" in scene.near.noted
    assert "Compacted" in scene.bot.screen[-1]


async def others_are_told_where_it_is(scene: Scene) -> None:
    scene.bot.llm.add("Done.")
    await scene.bot.hears("hi")
    assert "moved" in scene.near.noted
    assert "Done." in scene.bot.screen


async def others_take_over(scene: Scene) -> None:
    assert "taken_over" in scene.near.noted
    scene.bot.llm.add("Done.")
    await scene.bot.hears("hi")
    assert "Done." in scene.bot.screen


async def others_are_closed(scene: Scene) -> None:
    await scene.bot.restart()
    assert "closed" in scene.near.noted
    scene.bot.llm.add("Done.")
    await scene.bot.hears("hi")
    assert "Done." in scene.bot.screen


async def the_call_is_refused(scene: Scene) -> None:
    scene.bot.llm.add(calls(("near_work", {})), "Done.")
    await scene.bot.hears("work")
    assert "tools" not in scene.near.noted
    assert "A plugin that has to agree to calls failed" in str(scene.bot.llm.requests[-1].messages)
    assert "Done." in scene.bot.screen


async def nothing_is_erased(scene: Scene) -> None:
    scene.bot.llm.add("Done.")
    await scene.bot.hears("zebrafinch", sender="bob")
    assert "Not erased: the plugin bad failed to erase its rows" in await erases(scene.bot)
    assert "zebrafinch" in str(execute(scene.bot.home, None, "SELECT payload FROM inbox"))


@dataclass(frozen=True)
class Moment:
    """How a member may fail while Parley runs, and what holds then."""

    holds: Callable[[Scene], Awaitable[None]]
    within: float = 0.0
    """Its limit in seconds; 0 for none."""
    ways: tuple[str, ...] = (RAISES, EXITS, HANGS, IS_ODD)
    untold: tuple[str, ...] = ()
    """Ways of which /plugins says nothing."""
    where: str = ""
    """What /plugins calls it; empty for its own name."""


MOMENTS: Mapping[str, Moment] = {
    "tools": Moment(the_model_calls_the_next_tool, where="bad_work"),
    "models, the look-up": Moment(the_setting_is_refused, LOOK_UP_WITHIN, where="models bad"),
    "models, the client": Moment(another_model_answers, LlmOptions().timeout_s, where="models bad"),
    "commands": Moment(commands_go_on, COMMAND_WITHIN, where="/bad"),
    "commands, their values": Moment(no_values_are_offered, SUGGEST_WITHIN, where="/bad"),
    "reports": Moment(reports_go_on, MAKE_WITHIN, where="the report bad"),
    "presses": Moment(presses_go_on, PRESS_WITHIN, where="/bad_it"),
    "routes": Moment(routes_go_on, ROUTE_WITHIN, where="/bad"),
    "duties": Moment(duties_go_on, ways=(RAISES, EXITS, HANGS), untold=(HANGS,), where="work"),
    "owed": Moment(what_others_owe_is_done, OWED_WITHIN, where="bad line"),
    "ended": Moment(what_others_owe_is_done, ways=(RAISES, EXITS, IS_ODD)),
    "sent": Moment(what_others_owe_is_done, ways=(RAISES, EXITS, IS_ODD)),
    "hear": Moment(the_next_one_hears, HEAR_WITHIN),
    "read": Moment(the_next_one_reads, READ_WITHIN),
    "hold": Moment(the_run_begins, HOLD_WITHIN),
    "prompt": Moment(the_others_note_is_read, PROMPT_WITHIN),
    "summarised": Moment(others_are_told_what_a_summary_found, SUMMARISED_WITHIN, ways=(RAISES, EXITS, HANGS)),
    "listens": Moment(others_are_told_where_it_is, ways=(RAISES, EXITS)),
    "reacted": Moment(others_are_told_of_the_reaction, ways=(RAISES, EXITS)),
    "moved": Moment(others_are_told_where_it_is, ways=(RAISES, EXITS)),
    "taken_over": Moment(others_take_over, TAKE_OVER_WITHIN, ways=(RAISES, EXITS, HANGS)),
    "closed": Moment(others_are_closed, CLOSE_WITHIN, ways=(RAISES, EXITS, HANGS), untold=(RAISES, EXITS, HANGS)),
    "before_call": Moment(the_call_is_refused, GATE_WITHIN),
    "erased": Moment(nothing_is_erased, ways=(RAISES, EXITS)),
}
"""What is called while Parley runs. What is no coroutine cannot be given up: it must return at once."""
SCREENS = ("screens", "screens, their badges")
"""Those of the page, which have a test of their own."""
LISTS = ("models", "__init__", "tools", "reports", "commands", "presses", "screens", "routes", "duties", "owed")
"""What is called at the start."""
OURS = ("examined",)
"""Members that only plugins that come with Parley have; each of these tests its own."""
VALUES = (
    "name",
    "needs",
    "texts",
    "findings",
    "tool_names",
    "settings",
    "migrations",
    "unfinished",
    "paths",
    "open_paths",
    "scripts",
    "run_buttons",
)
"""What is read at the start."""


def test_the_tables_have_each_member_of_a_plugin() -> None:
    methods = {name for name, member in vars(Plugin).items() if callable(member) or isinstance(member, classmethod)}
    covered = {name.partition(",")[0] for name in (*MOMENTS, *SCREENS)}
    assert methods == covered | {*LISTS, *OURS}
    assert Plugin.__annotations__.keys() == {*VALUES}


CELLS = [(name, how) for name, moment in MOMENTS.items() for how in moment.ways]


@pytest.mark.parametrize(("name", "how"), CELLS, ids=[f"{name} {how}" for name, how in CELLS])
async def test_what_is_in_hand_is_answered_and_others_get_their_turn(
    start_bot: StartBot, monkeypatch: pytest.MonkeyPatch, name: str, how: str
) -> None:
    moment = MOMENTS[name]
    monkeypatch.setattr(owed_work, "PAUSES", (0.01,))
    bad, near = acting("bad", name, how), acting("near")
    bot = await start_bot(plugins=(bad, near), clock=Hasty(moment.within))

    scene = Scene(bot, near, how)
    await moment.holds(scene)

    assert await bot.made.base.store.inbox.waiting() == []
    assert scene.failing == ([] if how in moment.untold else ["bad"])
    await bot.channel.hears("/plugins")
    await bot.channel.until(lambda: re.search(r"On: .*\bnear|\*\*near\*\*", "".join(bot.screen[-1:])) is not None)
    if how not in moment.untold:
        assert f"in {moment.where or name}: " in about(bot, "bad").replace("\\", "")
    bot.llm.add("Hello.")
    await bot.channel.hears("hi")
    await bot.channel.until(lambda: "Hello." in bot.screen)


@pytest.mark.parametrize("how", [RAISES, EXITS, HANGS, IS_ODD])
@pytest.mark.parametrize("name", SCREENS)
async def test_other_screens_are_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, how: str) -> None:
    monkeypatch.setattr(watch, "WAITS", 3.0)
    plugins = (acting("bad", name, how), acting("near"))
    async with admin_world(tmp_path, plugins=plugins) as world, world.client() as client:
        async with client.get("/admin/bad") as answer:
            assert answer.status == (500 if name == "screens" else 200)
        async with client.get("/admin/near") as answer:
            assert "It is shown." in await answer.text()
        assert failing(world.desk.failures) == (["bad"] if name == "screens" or how != IS_ODD else [])


GOOD = """
class P(Plugin):
    name = "cards"

    async def draw(self, given):
        return reply("the queen")

    def commands(self):
        return [Command("draw", {"en": "Draw", "zh": "抽牌"}, self.draw, rights=always(LOOK))]
"""
WAYS = {RAISES: "raise RuntimeError('it broke')", HANGS: HANG, IS_ODD: "return 5"}
STARTS = [(name, how) for name in LISTS for how in WAYS if (name, how) != ("__init__", IS_ODD)]
BAD = [
    *((f"import of {how}", way) for how, way in WAYS.items() if how != IS_ODD),
    *(
        (
            f"{name} {how}",
            f"class P(Plugin):\n    name = 'dice'\n    def {name}(self, *_):\n        {WAYS[how]}\n",
        )
        for name, how in STARTS
    ),
    *((f"{name} is none", f"class P(Plugin):\n    name = 'dice'\n    {name} = 5\n") for name in VALUES),
]


@pytest.mark.parametrize(("title", "code"), BAD, ids=[title for title, _ in BAD])
@pytest.mark.usefixtures("given_up")
async def test_what_fails_at_the_start_is_left_out_and_everything_else_starts(
    start_bot: StartBot, packages: Packages, title: str, code: str
) -> None:
    own = "-".join(title.replace("_", " ").split())  # an import that hangs keeps the lock of its module
    packages.install(code, name="dice", package=f"parley-{own}")
    packages.install(GOOD, name="cards")
    chosen = packages.chosen(["dice", "cards"])
    chosen.configured(Settings(home=packages.home))  # as a start does before anything is made

    bot = await start_bot("Hello.", plugins=chosen)
    await bot.hears("/draw")
    await bot.hears("hi")
    await bot.hears("/plugins")

    assert bot.screen[:2] == ["the queen", "Hello."]
    assert "left out: " in about(bot, "dice")
