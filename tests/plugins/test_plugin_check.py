"""`parley plugin` lists the plugins, and says what one adds or what is wrong with it, without a running Parley."""

import re
from pathlib import Path

import pytest

from gateway.app.chosen_plugins import own_plugins
from gateway.app.plugin_command import checked, told
from gateway.settings.settings import Settings
from gateway.texts.plugin_reasons import reason_in
from tests.gateway.conftest import StartBot
from tests.plugins.packages import Packages
from tests.plugins.test_plugins_command import FULL
from tests.plugins.test_plugins_of_others import BAD, COINS, DICE, plugin

NOTED = "CREATE TABLE dice_rolls (sides INTEGER NOT NULL);"
MORE = "ALTER TABLE dice_rolls ADD COLUMN rolled INTEGER NOT NULL DEFAULT 0;"
EVERYTHING = """
from typing import Annotated
from parley import LOOK, About, PluginSettings, Press, always

class Sides(PluginSettings):
    sides: Annotated[int, About(en="Sides of a die.", zh="骰子的面数。")] = 6

class Rolls:
    name = "rolls"

    async def view(self, visit):
        return None

class P(Plugin):
    name = "dice"
    settings = Sides
    texts = {"page_rolls": {"en": "Rolls", "zh": "掷骰子"}}

    async def again(self, given):
        return None

    def presses(self):
        return [Press("again", self.again, always(LOOK))]

    def screens(self):
        return [Rolls()]
"""


@pytest.mark.parametrize(("code", "why"), BAD.values(), ids=BAD)
async def test_a_check_says_what_is_wrong_and_what_to_do_about_it(packages: Packages, code: str, why: str) -> None:
    packages.install(code)

    found = await checked(Settings(home=packages.home), "dice")

    _, fault = told(found)
    assert fault.startswith("✗ ")
    assert why in fault
    assert " → " in fault
    [reason] = found.faults
    raised = re.match(r"\w+(: |$)", reason)
    assert (reason_in(reason, "zh") == reason) == bool(raised), "a person reads all but errors translated"


def test_a_check_says_what_a_plugin_adds_and_approves_nothing(packages: Packages) -> None:
    packages.install(FULL)

    code, said = packages.parley("plugin", "check", "dice")

    assert code == 0, said
    assert "dice (parley-dice 1.0, digest " in said
    for line in ("commands: /roll (reads, for all)", "tools: roll_die", "duties: count rolls", "✓ it can be loaded"):
        assert line in said
    assert not (packages.home / "plugins.json").exists()
    assert not (packages.home / "parley.db").exists()


def test_a_check_says_which_buttons_screens_and_settings_a_plugin_adds(packages: Packages) -> None:
    packages.install(EVERYTHING)

    code, said = packages.parley("plugin", "check", "dice")

    assert code == 0, said
    for line in ("buttons: /dice_again", "screens: rolls", "settings: PARLEY_PLUGIN_DICE_SIDES"):
        assert line in said


def test_a_check_finds_a_default_of_a_setting_that_is_none_of_its_values(packages: Packages) -> None:
    packages.install(EVERYTHING.replace("= 6", '= "six"'))

    code, said = packages.parley("plugin", "check", "dice")

    assert code == 1
    assert "✗ the default of the setting sides of the plugin dice is none of its values → correct" in said


def test_a_check_points_at_a_method_that_nothing_calls_as_its_name_is_mistyped(packages: Packages) -> None:
    packages.install(DICE.replace("def commands", "def comands"))

    code, said = packages.parley("plugin", "check", "dice")

    assert code == 0, said
    assert "! Parley does not call its `comands` → rename it if `commands` is meant" in said
    assert "✓" not in said


def test_a_check_of_tables_that_cannot_be_made_says_once_what_to_do(packages: Packages) -> None:
    packages.install(plugin("migrations = ['CREATE TABLE messages (id TEXT PRIMARY KEY);']"))

    _, said = packages.parley("plugin", "check", "dice")

    assert "(migration 1) → correct the plugin, or ask its authors to\n" in said


def test_a_check_of_one_that_raises_ends_with_1_and_without_a_traceback(packages: Packages) -> None:
    packages.install(plugin("def tools(self): return 1 / 0"))

    code, said = packages.parley("plugin", "check", "dice")

    assert code == 1
    assert "✗ ZeroDivisionError: division by zero" in said
    assert "Traceback" not in said


MISSING = "def commands(self):\n    return [Command('dice')]"
DECORATED = """
def commands(self):
    @dataclass
    class Loud(Command):
        voice: str = 'loud'
    return [Loud()]
"""


@pytest.mark.parametrize(
    ("body", "error", "line"),
    [
        (MISSING, "TypeError: Missing required argument 'about'", "Command('dice')"),
        (DECORATED, "AttributeError: readonly attribute", "@dataclass"),
    ],
    ids=["argument", "decorator"],
)
def test_a_check_names_the_line_with_a_slip(packages: Packages, body: str, error: str, line: str) -> None:
    packages.install("from dataclasses import dataclass\nfrom parley import Command\n" + plugin(body))

    _, said = packages.parley("plugin", "check", "dice")

    [place] = re.findall(rf"✗ {error} \(parley_dice\.py, line (\d+)\)", said)
    assert line in (packages.folder / "parley_dice.py").read_text("utf-8").splitlines()[int(place) - 1]


ALL_WRONG = """
settings = int
needs = frozenset({'bread'})
texts = {'dice_x': {'en': 'x'}}
migrations = ['CREATE TABLE messages (id TEXT PRIMARY KEY);']
paths = frozenset({'/{any}'})
run_buttons = (1,)
"""
ALL_RAISE = "\n".join(
    f"def {method}(self, *running): raise OSError('{method}')"
    for method in ("tools", "owed", "reports", "commands", "presses", "screens", "routes", "duties")
)


def test_a_check_tells_all_faults_in_one_run_each_with_what_to_do(packages: Packages) -> None:
    packages.install(plugin(ALL_WRONG))

    code, said = packages.parley("plugin", "check", "dice")

    assert code == 1
    faults = [line for line in said.splitlines() if line.startswith("✗ ")]
    for why in (
        "the settings of the plugin dice are not a class derived from PluginSettings → derive",
        "the plugin dice needs bread, which is not there → install bread",
        "the text 'dice_x' is missing in zh → add the text in zh",
        "the name messages does not begin with dice_",
        "which is no path such as /dice → use lower-case letters",
        "has a button about runs that is none → list objects of RunButton",
    ):
        assert sum(why in fault for fault in faults) == 1, said
    assert len(faults) == 6, said
    assert all(" → " in fault for fault in faults)


async def test_a_check_tells_of_each_method_that_raises(packages: Packages) -> None:
    packages.install(plugin(ALL_RAISE))

    found = await checked(Settings(home=packages.home), "dice")

    assert sorted(found.faults) == [
        f"OSError: {each}"
        for each in ("commands", "duties", "owed", "presses", "reports", "routes", "screens", "tools")
    ]


@pytest.mark.parametrize(
    "body",
    [
        "from gateway.settings.plugin_settings import PluginSettings\n"
        "class Sides(PluginSettings): sides: int\n"
        "settings = Sides\n"
        "def __init__(self, core): self.sides = core.settings.of(self.Sides).sides",
        "texts = 1\ndef screens(self): return [type('S', (), {'name': 'rolls'})()]",
        "paths = 1\ndef routes(self, running): return {'/dice': 1}",
        "def __init__(self, core): self.table = 1 / 0\ndef commands(self): return self.table",
    ],
    ids=["settings", "texts", "paths", "making"],
)
async def test_what_fails_only_because_of_another_fault_is_not_told(packages: Packages, body: str) -> None:
    packages.install(plugin(body))

    found = await checked(Settings(home=packages.home), "dice")

    assert len(found.faults) == 1, found.faults


FORMS = EVERYTHING.replace(
    "    def presses",
    """    def commands(self):
        from parley import OTHERWISE, Right, Rights, Role
        owners = Right("admin", Role.OWNER, None)
        forms = {"": LOOK, "reset": owners, OTHERWISE: Right("write", Role.GUEST, Role.MEMBER)}
        return [Command("roll", {"en": "Roll", "zh": "掷骰子"}, self.again, rights=Rights(forms))]

    def presses""",
)


def test_a_check_tells_the_rights_of_each_form_of_a_command_and_of_buttons(packages: Packages) -> None:
    packages.install(FORMS)

    code, said = packages.parley("plugin", "check", "dice")

    assert code == 0, said
    assert "buttons: /dice_again (reads, for all)\n" in said
    assert (
        "commands: /roll (reads, for all), /roll reset (changes settings, for owners, in direct chats only), "
        "/roll … (changes, for all, in groups for members)\n"
    ) in said


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({}, "! not loaded: PARLEY_PLUGINS does not name it → set PARLEY_PLUGINS=dice, and start Parley again\n"),
        ({"plugins": "dice", "off": "dice"}, "! switched off → take dice out of PARLEY_PLUGINS_OFF\n"),
        ({"plugins": "dice"}, "! waits for approval → give /plugins approve dice in a chat if you trust it, and start"),
    ],
    ids=["not named", "switched off", "not approved"],
)
def test_a_check_says_why_the_next_start_does_not_load_it(packages: Packages, how: dict[str, str], said: str) -> None:
    packages.install(DICE)
    packages.chosen(["dice"])
    packages.install(DICE, version="1.1")

    code, output = packages.parley("plugin", "check", "dice", **how)

    assert code == 0
    assert "✓ it can be loaded\n" + said in output


def test_a_check_says_no_more_of_one_that_the_next_start_loads(packages: Packages) -> None:
    packages.install(DICE)

    _, said = packages.parley("plugin", "check", "dice", plugins="dice")

    assert said.endswith("✓ it can be loaded\n")


@pytest.mark.parametrize(
    ("migrations", "said"),
    [
        ([NOTED, MORE], ""),
        ([NOTED, MORE, "CREATE TABLE dice_last (id TEXT);"], ""),
        ([NOTED], "✗ The tables of the plugin dice have schema 2, but this version of it knows 1 → install the newer"),
        (
            [NOTED.replace("sides", "size"), MORE],
            "✗ migration 1 of the plugin dice is not the one that was applied to the store → leave it as it was, and",
        ),
    ],
    ids=["the same", "one more", "fewer", "another"],
)
async def test_a_check_compares_the_migrations_with_those_that_the_store_has_had(
    start_bot: StartBot, packages: Packages, migrations: list[str], said: str
) -> None:
    packages.install(plugin(f"migrations = {[NOTED, MORE]}"))
    await (await start_bot(plugins=packages.chosen(["dice"]))).stop()
    packages.install(plugin(f"migrations = {migrations}"))

    code, output = packages.parley("plugin", "check", "dice")

    assert code == bool(said), output
    assert said in output


def test_a_check_of_what_is_not_there_says_where_names_are(packages: Packages) -> None:
    code, said = packages.parley("plugin", "check", "dice")

    assert code == 2
    assert "`parley plugin list`" in said


def test_a_check_loads_what_the_settings_name_beside_it(packages: Packages) -> None:
    packages.install(DICE)
    packages.install(DICE.replace("'dice'", "'coins'", 1).replace("dice_rolled", "coins_rolled"), name="coins")

    code, said = packages.parley("plugin", "check", "coins", plugins="dice")

    assert code == 1
    assert "✗ two commands have the name /dice → rename the command" in said


def test_the_list_imports_nothing_and_says_what_the_next_start_loads(packages: Packages, tmp_path: Path) -> None:
    noted = f"open({str(tmp_path / 'imported')!r}, 'w').close()\n"
    packages.install(noted + DICE)
    packages.install(noted + COINS, name="coins")
    packages.chosen([])

    code, said = packages.parley("plugin", "list", plugins="dice, cards")

    assert code == 0
    assert re.search(
        r"^coins +not loaded: PARLEY_PLUGINS does not name it → set .+  \(parley-coins 1.0, digest ", said, re.M
    )
    assert re.search(r"^dice +on  \(parley-dice 1.0, digest ", said, re.M)
    assert re.search(r"^cards +not installed, though PARLEY_PLUGINS names it → install its package", said, re.M)
    for kind in own_plugins():
        assert re.search(rf"^{kind.name} +on  \(comes with Parley\)", said, re.M)
    assert not (tmp_path / "imported").exists()


def test_the_list_says_what_waits_for_approval(packages: Packages) -> None:
    packages.install(DICE)
    packages.chosen(["dice"])
    packages.install(DICE, version="1.1")

    _, said = packages.parley("plugin", "list", plugins="dice")

    assert "waits for approval → give /plugins approve dice" in said


def test_a_check_of_one_that_is_named_and_not_installed_says_what_to_do(packages: Packages) -> None:
    code, said = packages.parley("plugin", "check", "dice", plugins="dice")

    assert code == 1
    assert "✗ PARLEY_PLUGINS names it, but no installed package has a plugin of this name → install its package" in said
