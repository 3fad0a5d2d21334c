"""Plugins have settings of their own, which are read, shown, masked and refused as those of Parley are."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated

import pytest
from pydantic import Field, SecretStr

from gateway.app.chosen_plugins import own_plugins
from gateway.errors import SettingsError
from gateway.settings import env_example, page
from gateway.settings.current import CurrentSettings
from gateway.settings.plugin_settings import (
    About,
    PluginSettings,
    add_plugin_settings,
    check,
    plugin_settings,
    remove_plugin_settings,
)
from gateway.settings.run_time import Change, change_of, named
from gateway.settings.settings import Settings, load_settings
from gateway.store.chat_settings import EVERYWHERE
from gateway.texts.findings import finding_in
from gateway.upkeep.doctor.report import examine
from tests.gateway.admin.desk import admin_world
from tests.gateway.conftest import StartBot
from tests.plugins.packages import Packages

KEY = "word-of-the-dice-4711"
WORDS = 'About(en="Sides of a die.", zh="骰子的面数。")'
SETTINGS = """
from typing import Annotated
from pydantic import Field, SecretStr
from gateway.settings.plugin_settings import About, PluginSettings

class Numbers(PluginSettings):
    sides: Annotated[int, Field(ge=2), About(en="Sides of a die.", zh="骰子的面数。")] = 6
    key: Annotated[SecretStr | None, About(en="A word.", zh="一个词。")] = None

class P(Plugin):
    name = "dice"
    settings = Numbers

    async def roll(self, given):
        return reply(f"one of {self.core.settings.of(Numbers).sides}")

    def commands(self):
        return [Command("dice", {"en": "Roll", "zh": "掷骰子"}, self.roll, rights=always(LOOK))]
"""


class Sides(PluginSettings):
    sides: Annotated[int, Field(ge=2), About(en="Sides of a die.", zh="骰子的面数。")] = 6
    key: Annotated[SecretStr | None, About(en="A word.", zh="一个词。")] = None


@pytest.fixture
def load(tmp_path: Path) -> Iterator[Callable[..., Settings]]:
    """Read settings beside a plugin `dice`, of which they learn once it is loaded."""

    def loaded(dotenv: str = "", toml: str = "", **environ: str) -> Settings:
        for name, text in ((".env", dotenv), ("parley.toml", toml)):
            (tmp_path / name).write_text(text)
            (tmp_path / name).chmod(0o600)
        return load_settings({"PARLEY_HOME": str(tmp_path), **environ}, tmp_path)

    yield loaded
    remove_plugin_settings("dice")


@pytest.mark.parametrize(
    ("dotenv", "toml", "environ", "sides"),
    [
        ("", "", {}, 6),
        ("", "[plugin]\ndice_sides = 8\n", {}, 8),
        ("PARLEY_PLUGIN_DICE_SIDES=10\n", "[plugin]\ndice_sides = 8\n", {}, 10),
        ("PARLEY_PLUGIN_DICE_SIDES=10\n", "", {"PARLEY_PLUGIN_DICE_SIDES": "12"}, 12),
        ("PARLEY_PLUGIN_DICE_SIDES=\n", "", {"PARLEY_PLUGIN_DICE_SIDES": " "}, 6),
    ],
)
def test_they_are_read_from_the_environment_and_the_files(
    load: Callable[..., Settings], dotenv: str, toml: str, environ: dict[str, str], sides: int
) -> None:
    add_plugin_settings("dice", Sides)

    loaded = load(dotenv, toml, **environ)

    assert CurrentSettings(loaded).of(Sides).sides == sides
    assert loaded.warnings == ()


@pytest.mark.parametrize(
    ("dotenv", "toml", "sentence"),
    [
        ("PARLEY_PLUGIN_DICE_SIDES=1", "", "PARLEY_PLUGIN_DICE_SIDES in {home}/.env, line 1 must be at least 2."),
        (
            "",
            "[plugin]\ndice_sides = 'many'",
            "plugin.dice_sides in {home}/parley.toml, line 2 must be a whole number.",
        ),
        (
            "PARLEY_PLUGIN_DICE_SIDSE=8",
            "",
            "There is no setting PARLEY_PLUGIN_DICE_SIDSE in {home}/.env, line 1; "
            "did you mean PARLEY_PLUGIN_DICE_SIDES?",
        ),
        (
            "",
            "[plugin]\ndice_side = 8",
            "There is no setting plugin.dice_side in {home}/parley.toml, line 2; did you mean plugin.dice_sides?",
        ),
    ],
)
def test_a_mistake_is_one_sentence(
    load: Callable[..., Settings], tmp_path: Path, dotenv: str, toml: str, sentence: str
) -> None:
    add_plugin_settings("dice", Sides)

    with pytest.raises(SettingsError) as refused:
        load(dotenv, toml)

    assert refused.value.sentence == sentence.format(home=tmp_path)


@pytest.mark.parametrize(
    ("dotenv", "toml", "place"),
    [
        ("PARLEY_PLUGIN_DICE_SIDES=8", "", "PARLEY_PLUGIN_DICE_SIDES in {home}/.env, line 1"),
        ("", "[plugin]\ndice_sides = 8", "plugin.dice_sides in {home}/parley.toml, line 2"),
    ],
)
async def test_for_a_plugin_that_is_not_there_they_are_warned_of(
    load: Callable[..., Settings], tmp_path: Path, dotenv: str, toml: str, place: str
) -> None:
    loaded = load(dotenv, toml, PARLEY_MODEL="ollama/qwen3", PARLEY_WEB="off")

    [warning] = loaded.warnings
    assert warning.mark == "note"
    assert warning.what == f"{place.format(home=tmp_path)} is not used: no plugin has this setting"
    assert finding_in(warning.what, "zh") != warning.what
    assert warning in await examine(loaded), "and the doctor says so"


@pytest.mark.skipif(not any(kind.settings for kind in own_plugins()), reason="no plugin with settings is there")
def test_for_a_plugin_that_is_not_there_no_setting_of_another_is_proposed(load: Callable[..., Settings]) -> None:
    [warning] = load("PARLEY_PLUGIN_DICE_SIDES=8").warnings

    assert warning.fix == "install the plugin and name it in PARLEY_PLUGINS, or take this out"
    assert finding_in(warning.fix, "zh") != warning.fix


def test_for_a_plugin_that_is_loaded_later_they_are_not_warned_of(load: Callable[..., Settings]) -> None:
    assert load("PARLEY_PLUGIN_DICE_SIDES=8\nPARLEY_PLUGINS=dice\n").warnings == ()
    assert load("PARLEY_PLUGIN_DICE_SIDES=8\n", 'plugins = ["dice"]\n').warnings == ()


async def test_a_plugin_of_others_goes_by_its_settings(
    load: Callable[..., Settings], packages: Packages, start_bot: StartBot
) -> None:
    packages.install(SETTINGS)
    loaded = load(f"PARLEY_PLUGIN_DICE_SIDES=20\nPARLEY_PLUGINS=dice\nPARLEY_PLUGIN_DICE_KEY={KEY}\n")
    chosen = packages.chosen(loaded.plugins)
    bot = await start_bot(plugins=chosen, loaded=chosen.configured(loaded))

    await bot.hears("/dice")

    assert bot.screen == ["one of 20"]
    assert not loaded.secrets.are_in("one of 20")
    assert loaded.secrets.are_in(KEY)
    assert load("PARLEY_PLUGIN_DICE_SIDES=12").plugin["dice"].model_dump()["sides"] == 12, "also when read again"


@pytest.mark.parametrize(
    ("dotenv", "why"),
    [
        ("PARLEY_PLUGIN_DICE_SIDES=1", "must be at least 2"),
        ("PARLEY_PLUGIN_DICE_SIZE=8", "There is no setting PARLEY_PLUGIN_DICE_SIZE"),
    ],
)
async def test_one_of_others_with_a_wrong_value_is_left_out(
    load: Callable[..., Settings], packages: Packages, dotenv: str, why: str
) -> None:
    packages.install(SETTINGS)
    loaded = load(f"{dotenv}\nPARLEY_PLUGINS=dice\n")
    chosen = packages.chosen(loaded.plugins)

    configured = chosen.configured(loaded)

    assert why in chosen.left_out["dice"]
    assert configured.plugin.keys() == plugin_settings().keys()
    assert "dice" not in plugin_settings()


class Lively(PluginSettings):
    most: Annotated[
        int, Field(ge=2), About(en="Most sides.", zh="最多面数。", formerly=("most_sides",), chat_example="9")
    ] = 6


@pytest.fixture
def lively() -> Iterator[None]:
    add_plugin_settings("dice", Lively)
    yield
    remove_plugin_settings("dice")


@pytest.mark.usefixtures("lively")
async def test_one_with_an_example_is_changed_in_a_chat_and_reset(start_bot: StartBot) -> None:
    bot = await start_bot()

    await bot.hears("/config set plugin.dice_most 1")
    assert "takes a whole number from 2 up. Example: `/config set plugin.dice_most 9`." in bot.screen[-1]
    await bot.hears("/config set plugin.dice_most 8")
    assert bot.made.base.current.of(Lively).most == 8
    assert change_of("plugin.dice_most") is Change.NOW
    await bot.restart()
    assert bot.made.base.current.of(Lively).most == 8, "also at the next start"
    await bot.hears("/config reset plugin.dice_most")
    assert bot.made.base.current.of(Lively).most == 6


@pytest.mark.usefixtures("lively")
async def test_what_a_chat_has_set_under_its_former_name_counts_until_it_is_set_again(start_bot: StartBot) -> None:
    bot = await start_bot()
    await bot.made.base.store.chat_settings.set(EVERYWHERE, "config.most_sides", "7", "memory:ann")
    await bot.restart()
    assert bot.made.base.current.of(Lively).most == 7

    await bot.hears("/config set most_sides 8")
    assert bot.made.base.current.of(Lively).most == 8
    await bot.hears("/config reset PARLEY_MOST_SIDES")

    await bot.restart()
    assert bot.made.base.current.of(Lively).most == 6


@pytest.mark.usefixtures("lively")
async def test_one_with_an_example_is_changed_in_the_files_without_a_restart(
    load: Callable[..., Settings], start_bot: StartBot, tmp_path: Path
) -> None:
    bot = await start_bot(loaded=load("PARLEY_PLUGIN_DICE_MOST=8\n"))
    (tmp_path / ".env").write_text("PARLEY_PLUGIN_DICE_MOST=9\n")

    await bot.hears("/reload")

    assert bot.made.base.current.of(Lively).most == 9


DECLARED = {
    "no class": ("P.settings = 1", "are not a class derived from PluginSettings"),
    "no default": (f"class N(PluginSettings):\n    sides: Annotated[int, {WORDS}]\nP.settings = N", "has no default"),
    "no words": ("class N(PluginSettings):\n    sides: int = 6\nP.settings = N", "has no About"),
    "a secret for chats": (
        "class N(PluginSettings):\n"
        "    key: Annotated[SecretStr | None, About('a', 'b', chat_example='c')] = None\nP.settings = N",
        "is secret, and no chat may change it",
    ),
    "upper case": (f"class N(PluginSettings):\n    Sides: Annotated[int, {WORDS}] = 6\nP.settings = N", "lower case"),
}


@pytest.mark.parametrize(("code", "why"), DECLARED.values(), ids=DECLARED)
def test_one_whose_settings_cannot_be_used_is_left_out(
    load: Callable[..., Settings], packages: Packages, code: str, why: str
) -> None:
    packages.install(f"{SETTINGS}\n{code}\n")
    loaded = load("PARLEY_PLUGINS=dice\n")
    chosen = packages.chosen(loaded.plugins)

    chosen.configured(loaded)

    assert why in chosen.left_out["dice"]


def test_two_plugins_with_the_same_setting_are_refused_by_name() -> None:
    class Same(PluginSettings):
        six_sides: Annotated[int, About(en="Sides.", zh="面数。")] = 6

    with pytest.raises(ValueError, match="dice_six and dice both have a setting PARLEY_PLUGIN_DICE_SIX_SIDES"):
        check("dice", Same, {"dice_six": Sides})


async def test_they_are_listed_with_those_of_parley(load: Callable[..., Settings], tmp_path: Path) -> None:
    add_plugin_settings("dice", Sides)
    loaded = load(f"PARLEY_PLUGIN_DICE_SIDES=20\nPARLEY_PLUGIN_DICE_KEY={KEY}\n")

    assert named("PARLEY_PLUGIN_DICE_SIDES") == named("plugin.dice_sides") == "plugin.dice_sides"
    assert (change_of("plugin.dice_sides"), change_of("plugin.dice_key")) == (Change.RESTART, Change.NEVER)
    assert "# Sides of a die. Default: 6\nPARLEY_PLUGIN_DICE_SIDES=\n" in env_example.render()
    assert "| `PARLEY_PLUGIN_DICE_SIDES` | `plugin.dice_sides` | 6 | Sides of a die. | restart |" in page.render()
    async with (
        admin_world(tmp_path / "bot", loaded=loaded, secrets=loaded.secrets) as world,
        world.client() as client,
        client.get("/admin/settings", headers={"Accept-Language": "zh-CN"}, params={"q": "dice"}) as answer,
    ):
        text = await answer.text()
        assert "骰子的面数。" in text
        assert "<code>plugin.dice_sides</code>" in text
        assert "20" in text
        assert KEY not in text


async def test_a_chat_is_told_that_they_are_changed_in_the_files(
    load: Callable[..., Settings], start_bot: StartBot
) -> None:
    add_plugin_settings("dice", Sides)
    bot = await start_bot()

    await bot.hears("/config set plugin.dice_sides 8")
    await bot.hears("/config set PARLEY_PLUGIN_DICE_KEY hunter2hunter2")

    assert "restart" in bot.screen[0]
    assert "never" in bot.screen[1].lower()


async def test_a_changed_one_needs_a_restart(
    load: Callable[..., Settings], start_bot: StartBot, tmp_path: Path
) -> None:
    add_plugin_settings("dice", Sides)
    bot = await start_bot(loaded=load("PARLEY_PLUGIN_DICE_SIDES=8\n"))
    (tmp_path / ".env").write_text(f"PARLEY_PLUGIN_DICE_SIDES=9\nPARLEY_PLUGIN_DICE_KEY={KEY}\n")

    await bot.hears("/reload")

    assert "`plugin.dice_key`, `plugin.dice_sides`" in bot.screen[-1]
    assert KEY not in bot.screen[-1]


def test_those_of_ours_are_in_the_module_that_is_read_before_the_plugin() -> None:
    declared = {kind.name: kind.settings for kind in own_plugins() if kind.settings is not None}

    assert declared == plugin_settings()
