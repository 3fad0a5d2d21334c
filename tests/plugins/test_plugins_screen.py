"""The page shows owners which plugin supplies what, with its rights and its last failure."""

from pathlib import Path

import pytest

from gateway.security.secrets import Secrets
from tests.gateway.admin.desk import admin_world
from tests.gateway.admin.test_pages import act, audited
from tests.plugins.packages import Packages
from tests.plugins.test_plugins_command import FULL
from tests.plugins.test_screens import ATTACK, dice, get, plain

SECRET = "sk-live-0123456789abcdef"  # noqa: S105


def row(page: str, name: str) -> str:
    """Return the row of a plugin."""
    _, begins, rest = page.partition(f"<strong>{name}</strong>")
    assert begins, page
    return rest.partition("</tr>")[0]


async def test_it_shows_the_version_what_is_added_and_the_rights(tmp_path: Path, packages: Packages) -> None:
    packages.install(FULL)
    async with admin_world(tmp_path, plugins=packages.chosen(["dice"])) as world, world.client() as client:
        shown = row(await get(client, "plugins"), "dice")
        assert "of others, parley-dice 1.0, digest " in shown
        assert ">on<" in shown
        assert "Commands: /roll (reads, for all)<br>Tools: roll_die (reads)<br>Duties: count rolls" in shown
        zh = row(await get(client, "plugins", language="zh"), "dice")
        assert "第三方，parley-dice 1.0" in zh


@pytest.mark.usefixtures("ours")
async def test_it_says_which_come_with_parley(tmp_path: Path) -> None:
    async with admin_world(tmp_path) as world, world.client() as client:
        assert "Parley 自带" in await get(client, "plugins", language="zh")


async def test_it_shows_which_plugin_supplies_a_screen(tmp_path: Path) -> None:
    async with admin_world(tmp_path, plugins=(dice(plain),)) as world, world.client() as client:
        assert "Screens: rolls" in row(await get(client, "plugins"), "dice")


async def test_it_shows_the_last_failure_with_its_time_escaped_and_without_secrets(
    tmp_path: Path, packages: Packages
) -> None:
    packages.install(FULL.replace('return reply("4")', f'raise ValueError("{ATTACK} {SECRET}")'))
    secrets = Secrets((SECRET,))
    async with admin_world(tmp_path, plugins=packages.chosen(["dice"]), secrets=secrets) as world:
        await world.bot.hears("/roll")
        async with world.client() as client:
            shown = row(await get(client, "plugins"), "dice")
    assert "<time " in shown
    assert "/roll: &lt;img" in shown
    assert SECRET not in shown


@pytest.mark.parametrize(
    ("code", "names", "said"),
    [
        ("raise OSError('no dice here')", ["dice"], '<span class="bad">left out: OSError: no dice here</span>'),
        (FULL, [], ">switched off<"),
    ],
)
async def test_it_shows_what_is_left_out_or_off(
    tmp_path: Path, packages: Packages, code: str, names: list[str], said: str
) -> None:
    packages.install(code)
    chosen = packages.chosen(names, () if names else ("dice",))
    async with admin_world(tmp_path, plugins=chosen) as world, world.client() as client:
        assert said in row(await get(client, "plugins"), "dice")


async def test_an_owner_approves_a_changed_one_by_its_button_which_is_recorded_once(
    tmp_path: Path, packages: Packages
) -> None:
    packages.install(FULL)
    packages.chosen(["dice"])
    packages.install(FULL, version="1.1")
    chosen = packages.chosen(["dice"])
    async with admin_world(tmp_path, plugins=chosen) as world, world.client() as client:
        shown = row(await get(client, "plugins"), "dice")
        command = f"/plugins approve dice {chosen.contents['dice'].code}"
        assert f'value="{command}"' in shown
        assert ">Approve dice</button>" in shown

        assert "It is loaded at the next start" in await act(client, command)

        assert "Approve dice" not in row(await get(client, "plugins"), "dice")
        assert packages.chosen(["dice"]).others.keys() == {"dice"}
        assert "web:local plugins approve dice" in (found := await audited(world))
        assert "web:local /plugins" not in found


async def test_admins_do_not_see_the_plugins(tmp_path: Path) -> None:
    async with admin_world(tmp_path) as world:
        page = await world.seen_by_admin("plugins")
    assert "Only owners see the plugins." in page
    assert "<table>" not in page
