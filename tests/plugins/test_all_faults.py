"""`parley plugin check` finds what no start sees, and tells all that is wrong within a member of a plugin."""

from gateway.app.plugin_command import checked
from gateway.settings.settings import Settings
from tests.plugins.packages import Packages
from tests.plugins.test_plugins_of_others import plugin

PLAIN_WHERE_AWAITED = """
class P(Plugin):
    name = "dice"
    texts = {"page_rolls": {"en": "Rolls", "zh": "掷骰子"}}
    tool_names = frozenset({"roll_die"})
    paths = frozenset({"/dice"})

    def roll(self, *given):
        return None

    def hear(self, item, run, sound, language):
        return None

    def read(self, item, run, file, room, language):
        return None

    def before_call(self, call):
        return None

    def hold(self, chat):
        return None

    def commands(self):
        about = {"en": "Roll", "zh": "掷骰子"}
        return [Command("roll", about, self.roll, rights=always(LOOK), suggest=self.roll)]

    def presses(self):
        from parley import Press
        return [Press("again", self.roll, always(LOOK))]

    def tools(self):
        @tool()
        def roll_die(sides: int = "six") -> str:
            "Roll a die."
            return "4"
        return [roll_die]

    def screens(self):
        return [type("Rolls", (), {"name": "rolls", "view": self.roll})()]

    def routes(self, running):
        return {"/dice": self.roll}

    def duties(self, running):
        return {"count": self.roll}

    def owed(self):
        return {"line": self.roll}
"""


def test_a_check_finds_plain_functions_that_are_awaited_and_defaults_of_another_type(packages: Packages) -> None:
    packages.install(PLAIN_WHERE_AWAITED)

    code, said = packages.parley("plugin", "check", "dice")

    assert code == 1
    for what in (
        *("its hear", "its read", "its before_call", "its hold", "what /roll runs", "what suggests values for /roll"),
        *("what a press of again runs", "the tool roll_die", "the view of the screen rolls", "the route /dice"),
        *("the duty count", "what does the owed line"),
    ):
        assert f"✗ {what} is `def`, and has to be `async def` → write `async def`\n" in said
    assert "✗ the default 'six' of the parameter sides of the tool roll_die is not of its type → correct" in said
    assert "✓" not in said


TWICE_WRONG = """
class P(Plugin):
    name = "dice"
    paths = frozenset({"/dice"})

    def commands(self):
        return [Command(name, {}, self.roll, rights=LOOK) for name in ("roll-a", "roll")]

    async def roll(self, given):
        return None

    def presses(self):
        from parley import Press
        return [Press("A", self.roll, LOOK), 1]

    def tools(self):
        @tool()
        async def one() -> str:
            "One."
        @tool()
        async def two() -> str:
            "Two."
        return [one, two, 3]

    def screens(self):
        return [type("A", (), {"name": name, "view": self.roll})() for name in ("A", "b")]

    def routes(self, running):
        return {"/one": self.roll, "/two": self.roll}

    def duties(self, running):
        return {"one": 1, "two": 2}
"""


def test_a_check_tells_all_that_is_wrong_within_each_member(packages: Packages) -> None:
    packages.install(TWICE_WRONG)

    code, said = packages.parley("plugin", "check", "dice")

    assert code == 1
    faults = [line.removeprefix("✗ ").partition(" → ")[0] for line in said.splitlines() if line.startswith("✗ ")]
    assert sorted(faults) == sorted(
        [
            "the command 'roll-a' is not 1 to 32 characters of a-z, 0-9 and _",
            *(f"the rights of /{name} should be of the type Rights, not Right" for name in ("roll-a", "roll")),
            *(
                f"the description of /{name} is missing in {language}"
                for name in ("roll-a", "roll")
                for language in ("en", "zh")
            ),
            "the rights of the topic A should be of the type Rights, not Right",
            "the topic 'A' makes 'dice_A', which has other characters than a-z, 0-9 and _",
            "an item of presses() should be of the type Press, not int",
            *(f"the plugin dice has a tool {name}, which its tool_names do not name" for name in ("one", "two")),
            "an item of tools() should be of the type Tool, not int",
            "the name of the screen A is not made of a-z, 0-9, - and _",
            *(f"the screen {name} has no title, the text page_{name}" for name in ("A", "b")),
            *(f"the plugin dice has a route /{name}, which its paths do not name" for name in ("one", "two")),
            *(f"the duty {name} should be of the type Callable, not int" for name in ("one", "two")),
        ]
    )


async def test_a_check_tells_each_text_that_cannot_be_used(packages: Packages) -> None:
    packages.install(plugin("texts = {'a': {}, 'b': {'en': 'b'}, 'only_owners': {'en': 'x', 'zh': 'x'}}"))

    found = await checked(Settings(home=packages.home), "dice")

    assert found.faults == [
        "the text 'a' is missing in en, zh",
        "the text 'b' is missing in zh",
        "two texts have the key 'only_owners'",
    ]
