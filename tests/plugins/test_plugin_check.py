"""`parley plugin` lists the plugins, and says what one adds or what is wrong with it, without a running Parley."""

import re
from pathlib import Path

import pytest

from gateway.app.chosen_plugins import own_plugins
from gateway.app.plugin_command import checked, told
from gateway.settings.settings import Settings
from gateway.texts.plugin_reasons import reason_in
from tests.plugins.packages import Packages
from tests.plugins.test_plugins_command import FULL
from tests.plugins.test_plugins_of_others import BAD, COINS, DICE, plugin

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
    for line in ("commands: /roll", "tools: roll_die", "duties: count rolls", "✓ it can be loaded"):
        assert line in said
    assert not (packages.home / "plugins.json").exists()
    assert not (packages.home / "parley.db").exists()


def test_a_check_says_which_buttons_screens_and_settings_a_plugin_adds(packages: Packages) -> None:
    packages.install(EVERYTHING)

    code, said = packages.parley("plugin", "check", "dice")

    assert code == 0, said
    for line in ("buttons: /dice_again", "screens: rolls", "settings: PARLEY_PLUGIN_DICE_SIDES"):
        assert line in said


def test_a_check_points_at_a_method_that_nothing_calls_as_its_name_is_mistyped(packages: Packages) -> None:
    packages.install(DICE.replace("def commands", "def comands"))

    code, said = packages.parley("plugin", "check", "dice")

    assert code == 0, said
    assert "! Parley does not call its `comands` → rename it if `commands` is meant" in said


def test_a_check_of_one_that_raises_ends_with_1_and_without_a_traceback(packages: Packages) -> None:
    packages.install(plugin("def tools(self): return 1 / 0"))

    code, said = packages.parley("plugin", "check", "dice")

    assert code == 1
    assert "✗ ZeroDivisionError: division by zero" in said
    assert "Traceback" not in said


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
    for method in ("tools", "owed", "commands", "presses", "screens", "routes", "duties")
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
        f"OSError: {each}" for each in ("commands", "duties", "owed", "presses", "routes", "screens", "tools")
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
    assert re.search(r"^coins +not loaded: PARLEY_PLUGINS does not name it  \(parley-coins 1.0, digest ", said, re.M)
    assert re.search(r"^dice +on  \(parley-dice 1.0, digest ", said, re.M)
    assert re.search(r"^cards +not installed, though PARLEY_PLUGINS names it", said, re.M)
    for kind in own_plugins():
        assert re.search(rf"^{kind.name} +on  \(comes with Parley\)", said, re.M)
    assert not (tmp_path / "imported").exists()


def test_the_list_says_what_waits_for_approval(packages: Packages) -> None:
    packages.install(DICE)
    packages.chosen(["dice"])
    packages.install(DICE, version="1.1")

    _, said = packages.parley("plugin", "list", plugins="dice")

    assert "waits for approval: /plugins approve dice" in said
