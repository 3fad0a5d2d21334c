"""The screen of groups: the rules of each are shown, and changed by the commands that are given in it."""

from pathlib import Path

from channels.memory import user
from gateway.permissions.groups import Activation, Audience
from gateway.store.budget import chat_account
from tests.gateway.admin.desk import admin_world
from tests.gateway.admin.test_models import get
from tests.gateway.admin.test_pages import act


async def test_the_rules_of_a_group_are_shown_and_changed_in_it(tmp_path: Path) -> None:
    async with admin_world(tmp_path, "Hello!") as world, world.client() as client:
        assert "There are no groups yet." in await get(client, "groups")
        await world.bot.channel.hears("hi", sender=user("ann"), group="team")
        await world.bot.app.settled()
        team, groups = world.bot.channel.chat(group="team"), world.bot.made.people.groups.rules
        for command, arguments in (
            ("/activation", ("always", "channel")),
            ("/speakers", ("everybody",)),
            ("/tools", ("exec", "deny")),
            ("/budget here", ("3", "USD a day")),
        ):
            await act(client, command, *arguments, chat=str(team))
        assert groups.activation(team) is Activation.ALWAYS
        assert groups.speakers(team).audience is Audience.EVERYBODY
        assert groups.limits(team)["exec"] == "deny"
        assert len(world.bot.made.guards.budgets.of(chat_account(team))) == 1
        text = await get(client, "groups")
        assert f"<code>{team}</code>" in text
        assert "<h2>team (memory)</h2>" in text
        assert "3 USD a day" in text
        assert "<strong>deny</strong>" in text
        assert '<option value="always" selected>' in text


async def test_a_group_has_its_name_also_after_a_restart(tmp_path: Path) -> None:
    name = "🌵" * 300
    async with admin_world(tmp_path, "Hello!") as world:
        await world.bot.channel.hears("hi", sender=user("ann"), group=name)
        await world.bot.app.settled()
    async with admin_world(tmp_path) as world, world.client() as client:
        assert f"{name}</bdi> (memory)</h2>" in await get(client, "groups")


async def test_a_group_with_an_attackers_name_is_shown_as_it_is_written(tmp_path: Path) -> None:
    async with admin_world(tmp_path, "Hello!") as world, world.client() as client:
        await world.bot.channel.hears("hi", sender=user("ann"), group="team<img src=x onerror=alert(1)>")
        await world.bot.app.settled()
        assert "<img src=x" not in await get(client, "groups")
