"""Plugins are told what happens while Parley runs, and one that fails is in nobody's way."""

from collections.abc import Sequence

from structlog.testing import capture_logs

from channels.base import Accepted, InboundEvent
from gateway.plugin import Plugin
from tests.gateway.conftest import StartBot


def listens(noted: list[InboundEvent]) -> type[Plugin]:
    """Return a plugin that notes the events that are let in."""

    class Listens(Plugin):
        name = "listens"

        def admitted(self, event: InboundEvent) -> None:
            noted.append(event)

    return Listens


class Stumbles(Plugin):
    """Fails at each event."""

    name = "stumbles"

    def admitted(self, event: InboundEvent) -> None:
        raise RuntimeError(event.event_id)


def kinds(noted: Sequence[InboundEvent]) -> list[tuple[str, str]]:
    return [(event.type, event.sender.id) for event in noted]


async def test_a_plugin_is_told_of_events_that_are_let_in_and_of_no_others(start_bot: StartBot) -> None:
    noted: list[InboundEvent] = []
    bot = await start_bot("Hello.", plugins=(listens(noted),))

    await bot.hears("/help")
    assert await bot.hears("hi", sender="a stranger") is Accepted.REFUSED
    await bot.hears("hi")

    assert kinds(noted) == [("command", "ann"), ("message", "ann")]


async def test_a_plugin_that_fails_is_logged_by_name_and_the_event_goes_on(start_bot: StartBot) -> None:
    noted: list[InboundEvent] = []
    bot = await start_bot("Hello.", plugins=(Stumbles, listens(noted)))

    with capture_logs() as logs:
        await bot.hears("hi")

    assert bot.screen == ["Hello."]
    assert kinds(noted) == [("message", "ann")]
    assert [(each["event"], each["plugin"]) for each in logs if each["log_level"] == "error"] == [
        ("a plugin failed", "stumbles")
    ]


async def test_a_plugin_that_its_settings_leave_nothing_to_do_is_told_nothing_until_they_change(
    start_bot: StartBot,
) -> None:
    noted: list[InboundEvent] = []

    class Asleep(Plugin):
        name = "asleep"

        def listens(self) -> bool:
            return self.core.settings.language == "zh"

        def admitted(self, event: InboundEvent) -> None:
            noted.append(event)

    bot = await start_bot(*["Hello."] * 3, plugins=(Asleep,))

    for said in ("one", "/config set language zh", "two", "/config set language en", "three"):
        await bot.hears(said)

    assert [getattr(each, "text", each.type) for each in noted] == ["two", "command"]
