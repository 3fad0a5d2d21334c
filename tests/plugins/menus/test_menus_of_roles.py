"""On Telegram the menu of a private chat has the commands of its person's role, in both languages."""

from typing import cast

import pytest

from parley.testing.emulators.telegram import TelegramEmulator
from tests.end_to_end.platforms.catalogue import only
from tests.end_to_end.platforms.emulated import STRANGERS
from tests.end_to_end.platforms.platform import Person
from tests.end_to_end.stage import Stage

pytestmark = [pytest.mark.timeout(120), only("telegram")]


def menu(telegram: TelegramEmulator, person: object, language: str = "") -> dict[str, str]:
    """Return the menu that is set for a person's private chat alone."""
    return telegram.command_menus.get((f"chat:{person}", language), {})


async def test_admins_members_and_guests_have_their_menus_through_changes_floods_and_restarts(own_stage: Stage) -> None:
    stage = own_stage
    telegram = cast("TelegramEmulator", stage.net.emulator)
    stage.program.set("PARLEY_OWNERS", f"telegram:{stage.net.id_of(STRANGERS + 1)}")
    ann, bob, gus = stage.net.person("Ann"), stage.net.person("Bob"), stage.net.stranger()
    chat, with_bob, with_gus = stage.net.private(ann), stage.net.private(bob), stage.net.private(gus)
    await stage.start()

    await telegram.wait_for(lambda: {"config", "people"} <= menu(telegram, ann.id, "zh").keys())
    await telegram.wait_for(lambda: "budget" in telegram.commands)
    assert "config" not in telegram.commands
    assert menu(telegram, ann.id, "zh")["config"] == "查看和更改设置"
    assert not menu(telegram, bob.id)

    telegram.faults.rate_limit("setMyCommands", retry_after=1)
    await chat.says(ann, f"/role telegram:{bob.id} admin")
    await telegram.wait_for(lambda: "config" in menu(telegram, bob.id, "zh"))
    await chat.says(ann, f"/allow telegram:{gus.id} guest")
    await telegram.wait_for(lambda: "whoami" in menu(telegram, gus.id, "zh"))
    assert not {"config", "budget"} & menu(telegram, gus.id).keys()

    await stage.program.kill()
    stage.program.set("PARLEY_ALLOW", f"telegram:{bob.id}")
    await stage.start()
    await chat.says(ann, f"/block telegram:{bob.id}")
    await telegram.wait_for(lambda: not menu(telegram, bob.id) and not menu(telegram, bob.id, "zh"))
    await with_gus.says(gus, "/whoami")
    await with_gus.until(lambda c: "Guest" in c.screen[-1])
    assert [call.params["scope"] for call in telegram.calls_of("setMyCommands")].count(
        {"type": "chat", "chat_id": int(ann.id)}
    ) == 2, "each language was set once, before the kill"
    assert not any("config" in text for text in with_bob.screen)


async def test_an_admin_who_writes_for_the_first_time_gets_the_menu_then(own_stage: Stage) -> None:
    stage = own_stage
    telegram = cast("TelegramEmulator", stage.net.emulator)
    owner = stage.net.id_of(STRANGERS + 1)
    stage.program.set("PARLEY_OWNERS", f"telegram:{owner}")
    await stage.start()
    await telegram.wait_for(lambda: any(call.status == 400 for call in telegram.calls_of("setMyCommands")))

    ann = stage.net.person("Ann")
    await stage.net.private(ann).says(ann, "/whoami")

    await telegram.wait_for(lambda: "config" in menu(telegram, owner))


async def test_whose_chat_refused_a_menu_gets_it_when_they_write_there_again(own_stage: Stage) -> None:
    stage = own_stage
    telegram = cast("TelegramEmulator", stage.net.emulator)
    stage.program.set("PARLEY_OWNERS", f"telegram:{stage.net.id_of(STRANGERS + 1)}")
    ann, bob = stage.net.person("Ann"), stage.net.person("Bob")
    chat, with_bob = stage.net.private(ann), stage.net.private(bob)
    await stage.start()
    await telegram.wait_for(lambda: "config" in menu(telegram, ann.id))
    await with_bob.says(bob, "/whoami")

    telegram.faults.fail("setMyCommands", status=403)  # as if bob had blocked the bot
    await chat.says(ann, f"/role telegram:{bob.id} admin")
    await telegram.wait_for(lambda: any(call.status == 403 for call in telegram.calls_of("setMyCommands")))
    await with_bob.says(bob, "/whoami")

    await telegram.wait_for(lambda: "config" in menu(telegram, bob.id))


async def test_who_has_spoken_in_a_group_gets_the_menu_of_a_new_role_at_once(own_stage: Stage) -> None:
    stage = own_stage
    telegram = cast("TelegramEmulator", stage.net.emulator)
    stage.program.set("PARLEY_OWNERS", f"telegram:{stage.net.id_of(STRANGERS + 1)}")
    ann, bob = stage.net.person("Ann"), stage.net.person("Bob")
    group = await stage.net.room("Team", [ann, bob])
    await stage.start()
    await group.says(bob, "/whoami")
    await group.until(lambda c: "Member" in c.screen[-1])

    await group.says(ann, f"/role telegram:{bob.id} admin")

    def is_set(member: str) -> bool:
        return any(each.startswith("chat_member") and each.endswith(f":{member}") for each, _ in telegram.command_menus)

    await telegram.wait_for(lambda: is_set(str(bob.id)))


async def test_in_a_group_each_who_speaks_there_has_the_menu_of_their_role_and_none_offers_to_pair(
    own_stage: Stage,
) -> None:
    stage = own_stage
    telegram = cast("TelegramEmulator", stage.net.emulator)
    stage.program.set("PARLEY_OWNERS", f"telegram:{stage.net.id_of(STRANGERS + 1)}")
    ann, bob = stage.net.person("Ann"), stage.net.person("Bob")
    group = await stage.net.room("Team", [ann, bob])
    await stage.start()

    def in_group(person: Person, language: str = "") -> dict[str, str]:
        menus = (
            each
            for key, each in telegram.command_menus.items()
            if key == (f"chat_member:{group_id}:{person.id}", language)
        )
        return next(menus, {})

    await group.says(ann, "/whoami")
    await telegram.wait_for(lambda: any(key.startswith("chat_member") for key, _ in telegram.command_menus))
    group_id = next(key for key, _ in telegram.command_menus if key.startswith("chat_member")).split(":")[1]
    await telegram.wait_for(lambda: "config" in in_group(ann, "zh"))
    await group.says(ann, f"/role telegram:{bob.id} admin")
    await group.until(lambda c: "Admin" in c.screen[-1])
    await group.says(bob, "/whoami")
    await telegram.wait_for(lambda: "config" in in_group(bob, "zh"))
    assert not {"pair", "link", "page"} & in_group(ann).keys()

    await stage.program.kill()
    await stage.start()
    await group.says(ann, f"/role telegram:{bob.id} member")
    await telegram.wait_for(lambda: not in_group(bob) and not in_group(bob, "zh"))

    assert "config" in in_group(ann)
    await stage.net.private(ann).says(ann, "/whoami")
    await telegram.wait_for(lambda: "pair" in menu(telegram, ann.id))
    everyone = [each for (scope, _), each in telegram.command_menus.items() if not scope.startswith("chat")]
    assert len(everyone) == 4
    assert not any("pair" in each for each in everyone)
