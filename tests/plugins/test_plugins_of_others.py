"""Plugins of others are loaded if the settings name them, and one that cannot be used is in nobody's way."""

import sys
from pathlib import Path

import pytest

from gateway.app.chosen_plugins import ChosenPlugins, own_plugins
from gateway.app.plugins import WAITS
from gateway.app.resources import prepare
from gateway.permissions.approved_plugins import ApprovedPlugins
from gateway.permissions.installed_plugins import content_of, installed_plugins
from gateway.permissions.roles import People
from gateway.settings.settings import load_settings
from gateway.store.nodes import differences
from tests.end_to_end.program import Program
from tests.gateway.conftest import StartBot
from tests.gateway.peopled import Platform
from tests.plugins.hanging import HANG
from tests.plugins.packages import Packages
from tests.postgres import UrlOf
from tests.process import REPOSITORY, SILENT, until

ROLL = """
class P(Plugin):
    name = {name!r}
    texts = {{"{name}_rolled": {{"en": "You rolled a {{eyes}}.", "zh": "您掷出了 {{eyes}}。"}}}}

    async def roll(self, given):
        from gateway.texts.say import say
        return reply(say("{name}_rolled", given.language, eyes=4))

    def commands(self):
        return [Command({name!r}, {{"en": "Roll", "zh": "掷骰子"}}, self.roll, rights=always(LOOK))]
"""
DICE = ROLL.format(name="dice")
COINS = ROLL.format(name="coins")
NEEDY = COINS.replace('name = "coins"', "name = 'coins'").replace(
    "    texts", '    needs = frozenset({"dice"})\n    texts'
)


def plugin(body: str, name: str = "dice") -> str:
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    return f"class P(Plugin):\n    name = {name!r}\n{lines}\n"


async def test_a_plugin_of_others_answers_once_the_settings_name_it(start_bot: StartBot, packages: Packages) -> None:
    packages.install(DICE)
    bot = await start_bot(plugins=packages.chosen(["dice"]))

    await bot.hears("/dice")

    assert bot.screen == ["You rolled a 4."]


async def test_a_command_that_returns_no_answer_is_told_as_a_failure_of_its_plugin(
    start_bot: StartBot, packages: Packages
) -> None:
    packages.install(DICE.replace("return reply(say(", "return (say("))
    bot = await start_bot(plugins=(chosen := packages.chosen(["dice"])))

    await bot.hears("/dice")

    assert bot.screen == ["The plugin dice failed and could not do that. /plugins dice tells why."]
    failure = chosen.failures.of("dice")[0]
    assert (failure.where, failure.reason) == (
        "/dice",
        "TypeError: it returned str, which is no answer; reply(TEXT) makes one of a text",
    )


def test_a_plugin_that_no_setting_names_is_not_imported(packages: Packages) -> None:
    packages.install("open(__file__ + '.imported', 'w').close()")

    assert packages.chosen([]).kinds == own_plugins()
    assert packages.chosen(["dice"], ["dice"]).kinds == own_plugins(), "and what is off stays off"
    assert not list(packages.folder.glob("*.imported"))


async def test_all_of_ours_can_be_switched_off(start_bot: StartBot, packages: Packages) -> None:
    names = [kind.name for kind in own_plugins()]
    chosen = packages.chosen([], names)
    bot = await start_bot("Hello.", plugins=chosen)

    await bot.hears("hi")

    assert chosen.kinds == ()
    assert not chosen.left_out
    assert bot.screen == ["Hello."]


FIRST = "CREATE TABLE dice_rolls (id INTEGER PRIMARY KEY);"
SECOND = "ALTER TABLE dice_rolls ADD COLUMN eyes INTEGER;"
FAILS = "DROP TABLE dice_rolls; INSERT INTO dice_rolls (eyes) VALUES (1);"
TABLES = plugin(f"migrations = {(FIRST, SECOND)}")

BAD = {
    "import": ("raise OSError('no dice here')", "OSError: no dice here"),
    "exit": ("import sys; sys.exit(3)", "SystemExit: 3"),
    "interrupt": ("raise KeyboardInterrupt", "KeyboardInterrupt"),
    "syntax": ("def", "SyntaxError: "),
    "no class": ("Q = 1", "AttributeError: "),
    "no plugin": ("P = dict", "parley_dice:P is not a class derived from"),
    "an instance": ("P = Plugin(None)", "parley_dice:P is not a class derived from"),
    "no name": ("class P(Plugin): pass", "the name of its class is not dice"),
    "needs of another type": (plugin("needs = ['a']"), "its needs are not a frozenset of names"),
    "needs what is missing": (plugin("needs = frozenset({'bread'})"), "needs bread, which is not there"),
    "needs itself": (plugin("needs = frozenset({'dice'})"), "plugins need each other: dice -> dice"),
    "making": (plugin("def __init__(self, core): raise RuntimeError('broken')"), "RuntimeError: broken"),
    "exit when made": (plugin("def __init__(self, core): raise SystemExit"), "SystemExit"),
    "tools": (plugin("def tools(self): return 1 / 0"), "ZeroDivisionError: division by zero"),
    "no tools": (plugin("def tools(self): return [1]"), "an item of tools() should be of the type Tool, not int"),
    "a tool without a schema": (
        "from parley import tool\nasync def roll(how: dict.fromkeys):\n    pass\n"
        + plugin("tool_names = frozenset({'roll'}); tools = lambda self: [tool()(roll)]"),
        "PydanticSchemaGenerationError: Unable to generate",
    ),
    "a tool alone": (
        plugin("def tools(self): return 1"),
        "the result of tools() should be of the type Iterable, not int",
    ),
    "commands": (plugin("def commands(self): return 1 / 0"), "ZeroDivisionError: division by zero"),
    "no commands": (
        plugin("def commands(self): return None"),
        "the result of commands() should be of the type Iterable, not NoneType",
    ),
    "a command that is none": (
        plugin("def commands(self): return [1]"),
        "commands() should be of the type Command, not int",
    ),
    "a description in no language": (
        DICE.replace('{"en": "Roll", "zh": "掷骰子"}', "'Roll'"),
        "the description of /dice should be of the type Mapping, not str",
    ),
    "a description in one language": (
        DICE.replace(', "zh": "掷骰子"', ""),
        "the description of /dice is missing in zh",
    ),
    "one right for a command": (
        DICE.replace("always(LOOK)", "LOOK"),
        "the rights of /dice should be of the type Rights, not Right",
    ),
    "a command that no platform has": (
        DICE.replace("Command('dice'", "Command('dice-roll'"),
        "the command 'dice-roll' is not 1 to 32 characters of a-z, 0-9 and _",
    ),
    "commands that are awaited": (
        plugin("async def commands(self): return ()"),
        "its commands is `async def`, and has to be `def`",
    ),
    "a moment that is awaited": (
        plugin("async def reacted(self, event): pass"),
        "its reacted is `async def`, and has to be `def`",
    ),
    "a parameter without a type": (
        plugin(
            "tool_names = frozenset({'dice_roll'})\n"
            "def tools(self):\n"
            "    async def dice_roll(sides) -> str:\n"
            "        'Roll.'\n"
            "        return ''\n"
            "    return [tool()(dice_roll)]"
        ),
        "the tool dice_roll has a parameter without a type: sides",
    ),
    "duties": (plugin("def duties(self, running): return 1 / 0"), "ZeroDivisionError: division by zero"),
    "no duties": (
        plugin("def duties(self, running): return ()"),
        "the result of duties() should be of the type Mapping, not tuple",
    ),
    "a duty that is none": (
        plugin("def duties(self, running): return {'roll': 1}"),
        "the duty roll should be of the type Callable, not int",
    ),
    "a command of the core": (DICE.replace("Command('dice'", "Command('help'"), "two commands have the name /help"),
    "a text of the core": (plugin("texts = {'only_owners': {'en': 'x', 'zh': 'x'}}"), "two texts have the key"),
    "a text in one language": (plugin("texts = {'dice_x': {'en': 'x'}}"), "the text 'dice_x' is missing in zh"),
    "no texts": (plugin("texts = {'dice_x': 1}"), "AttributeError: "),
    "a tool of the core": (
        plugin(
            "tool_names = frozenset({'send_file'})\n"
            "def tools(self):\n"
            "    @tool(label='x', labels={'zh': 'x'})\n"
            "    async def send_file() -> str:\n"
            "        'Send.'\n"
            "        return ''\n"
            "    return [send_file]"
        ),
        "Parley itself has a tool send_file",
    ),
    "a table of the core": (
        plugin("migrations = ['CREATE TABLE messages (id TEXT PRIMARY KEY);']"),
        "the name messages does not begin with dice_",
    ),
    "a table that cannot be made": (
        plugin(
            "migrations = ['CREATE TABLE dice_rolls (id INTEGER PRIMARY KEY); INSERT INTO dice_rolls (x) VALUES (1);']"
        ),
        "The plugin dice cannot make its tables: table dice_rolls has no column named x (migration 1)",
    ),
    "no migrations": (plugin("migrations = [1]"), "TypeError: "),
    "a path with a parameter": (plugin("paths = frozenset({'/{any}'})"), "which is no path such as /dice"),
    "routes": (plugin("def routes(self, running): return 1 / 0"), "ZeroDivisionError: division by zero"),
    "a route that it does not name": (plugin("def routes(self, running): return {'/x': 1}"), "its paths do not name"),
    "a long reason": ("raise OSError('long ' * 1000)", "OSError: long long"),
}


@pytest.mark.parametrize(("code", "why"), BAD.values(), ids=BAD)
async def test_one_that_fails_is_left_out_with_its_reason_and_all_others_answer(
    start_bot: StartBot, packages: Packages, code: str, why: str
) -> None:
    packages.install(code)
    packages.install(COINS, name="coins")
    chosen = packages.chosen(["dice", "coins"])
    bot = await start_bot("Hello.", plugins=chosen)

    await bot.hears("/coins")
    await bot.hears("hi")

    assert bot.screen[-2:] == ["You rolled a 4.", "Hello."]
    assert chosen.left_out.keys() == {"dice"}
    assert why in chosen.left_out["dice"]
    assert len(chosen.left_out["dice"]) <= 300
    assert set(own_plugins()) <= set(chosen.kinds)


async def test_owners_are_told_of_one_that_is_left_out(start_bot: StartBot, packages: Packages) -> None:
    packages.install("raise OSError('no dice here')")
    people = People(owners=frozenset({"memory:ann"}), allow=frozenset())
    bot = await start_bot("Hello.", people=people, channel=Platform(), plugins=packages.chosen(["dice"]))
    await bot.hears("hi")

    await bot.restart()

    await until(lambda: any("The plugin dice is left out: OSError: no dice here" in line for line in bot.screen))


def test_one_that_needs_another_that_is_left_out_is_left_out_too(packages: Packages) -> None:
    packages.install("raise OSError('no dice here')")
    packages.install(NEEDY, name="coins")

    chosen = packages.chosen(["coins", "dice"])

    assert chosen.kinds == own_plugins()
    assert chosen.left_out["coins"] == "the plugin coins needs dice, which is left out"


def test_one_that_needs_another_that_is_switched_off_is_left_out(packages: Packages) -> None:
    packages.install(DICE)
    packages.install(NEEDY, name="coins")

    chosen = packages.chosen(["dice", "coins"], ["dice"])

    assert chosen.left_out == {"coins": "the plugin coins needs dice, which is switched off"}


async def test_two_of_others_with_the_same_command_are_the_first_one_and_none(
    start_bot: StartBot, packages: Packages
) -> None:
    packages.install(DICE)
    packages.install(COINS.replace("Command('coins'", "Command('dice'"), name="coins")
    chosen = packages.chosen(["dice", "coins"])
    bot = await start_bot(plugins=chosen)

    await bot.hears("/dice")

    assert bot.screen[-1] == "You rolled a 4."
    assert chosen.left_out == {"coins": "two commands have the name /dice"}


def test_ours_cannot_be_replaced(packages: Packages, ours: str) -> None:
    packages.install(plugin("", ours), name=ours)

    chosen = packages.chosen([ours])

    assert chosen.kinds == own_plugins()
    assert "Parley's own is used" in chosen.left_out[ours]


def test_one_that_two_packages_have_is_left_out(packages: Packages) -> None:
    packages.install(DICE)
    packages.install(DICE, package="other-dice")

    chosen = packages.chosen(["dice"])

    assert chosen.kinds == own_plugins()
    assert "several packages have a plugin of this name" in chosen.left_out["dice"]


def test_one_that_is_not_installed_is_named(packages: Packages) -> None:
    assert "no installed package has a plugin of this name" in packages.chosen(["dice"]).left_out["dice"]


@pytest.mark.usefixtures("given_up")
def test_one_whose_import_hangs_is_left_out(packages: Packages) -> None:
    packages.install(HANG, package="slow-dice")

    assert packages.chosen(["dice"]).left_out == {"dice": f"its import took more than {WAITS:g} seconds"}


@pytest.mark.parametrize("method", ["__init__(self, core)", "tools(self)", "commands(self)", "duties(self, running)"])
@pytest.mark.usefixtures("given_up")
async def test_one_with_a_list_that_hangs_is_left_out(start_bot: StartBot, packages: Packages, method: str) -> None:
    packages.install(plugin(f"def {method}:\n    {HANG}"))
    bot = await start_bot("Hello.", plugins=(chosen := packages.chosen(["dice"])))

    await bot.hears("hi")

    assert bot.screen == ["Hello."]
    assert chosen.left_out == {"dice": f"one of its methods took more than {WAITS:g} seconds"}


async def test_what_changed_since_this_process_imported_it_waits_for_the_next_start(packages: Packages) -> None:
    packages.install(DICE)
    assert packages.chosen(["dice"]).others
    former = sys.modules["parley_dice"]
    packages.install(COINS.replace("coins", "dice"), version="1.1")
    sys.modules["parley_dice"] = former
    ApprovedPlugins(packages.home).approve("dice", content_of(installed_plugins()["dice"][0]))

    assert packages.chosen(["dice"]).left_out == {"dice": "its files have changed since this process imported them"}


async def test_a_failure_of_ours_is_an_error(start_bot: StartBot, packages: Packages) -> None:
    packages.install(plugin("def commands(self): return 1 / 0"))
    kind = packages.chosen(["dice"]).others["dice"]

    with pytest.raises(ValueError, match="division by zero"):
        await start_bot(plugins=ChosenPlugins([kind]))


@pytest.mark.parametrize("migrations", [(FIRST, SECOND, FAILS), (FIRST,)], ids=["fails", "tables newer than it"])
async def test_a_start_goes_on_without_one_whose_tables_cannot_be_used(
    packages: Packages, tmp_path: Path, migrations: tuple[str, ...]
) -> None:
    settings = load_settings({"PARLEY_HOME": str(tmp_path), "PARLEY_PLUGINS": "dice, coins", **SILENT}, tmp_path)
    packages.install(TABLES)
    packages.install(COINS, name="coins")
    async with prepare(settings) as resources:
        assert resources.plugins.others.keys() == {"dice", "coins"}
    packages.install(plugin(f"migrations = {migrations}"), version="1.1")
    ApprovedPlugins(tmp_path).approve("dice", content_of(installed_plugins()["dice"][0]))

    async with prepare(settings) as resources:
        assert resources.plugins.others.keys() == {"coins"}
        assert "dice" in resources.plugins.left_out["dice"]

    packages.install(TABLES, version="1.2")
    ApprovedPlugins(tmp_path).approve("dice", content_of(installed_plugins()["dice"][0]))
    async with prepare(settings) as resources:
        assert resources.plugins.others.keys() == {"dice", "coins"}, "as nothing was changed meanwhile"


async def test_nodes_tell_each_other_what_they_have_of_a_plugin(
    packages: Packages, tmp_path: Path, bare_url_of: UrlOf
) -> None:
    url = bare_url_of(tmp_path)
    environ = {"PARLEY_HOME": str(tmp_path), "PARLEY_PLUGINS": "dice", **SILENT}
    environ["PARLEY_DATABASE_URL"] = url
    packages.install(TABLES)
    async with prepare(load_settings({**environ, "PARLEY_NODE_NAME": "one"}, tmp_path)):
        packages.install(TABLES, version="1.1")
        ApprovedPlugins(tmp_path).approve("dice", content_of(installed_plugins()["dice"][0]))
        async with prepare(load_settings({**environ, "PARLEY_NODE_NAME": "two"}, tmp_path)) as two:
            found = dict(differences(await two.store.nodes.seen()))

    assert found == {"plugin dice": "one / two"}


async def test_a_running_parley_does_the_duty_of_one_and_tells_on_its_console_why_another_is_left_out(
    packages: Packages, tmp_path: Path
) -> None:
    packages.install(
        plugin(f"""
def duties(self, running):
    async def note():
        with open({str(tmp_path / "noted")!r}, "w") as file:
            file.write(" ".join(command.name for command in running.commands.commands))
    return {{"note": note}}
""")
    )
    packages.install("raise OSError('no coins here')", name="coins")
    program = Program(tmp_path, {**SILENT, "PARLEY_WEB": "on", "PARLEY_WEB_PORT": "0"})
    program.set("PYTHONPATH", f"{REPOSITORY}:{packages.folder}")
    program.set("PARLEY_PLUGINS", "dice, coins")
    program.set("PARLEY_PLUGINS_OFF", ",".join(kind.name for kind in own_plugins()))
    await program.launch()
    try:
        await until((tmp_path / "noted").exists)
        await until((tmp_path / "noted").read_text)
    finally:
        await program.kill()

    assert not {kind.name for kind in own_plugins()} & set((tmp_path / "noted").read_text().split())
    assert "no coins here" in program.console
