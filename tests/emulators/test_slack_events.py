"""Socket Mode of the emulated Slack, received by the real Bolt."""

import asyncio
from collections.abc import Callable

import aiohttp
import pytest
from slack_bolt.async_app import AsyncAck, AsyncApp, AsyncRespond
from slack_sdk.web.async_client import AsyncWebClient

from parley.testing.emulators.slack import SlackEmulator
from parley.testing.emulators.slack_clients import connected, slack_app
from parley.testing.emulators.slack_wire import Json


class Ear:
    """A Bolt app that records the body of every event."""

    def __init__(self, slack: SlackEmulator) -> None:
        self.app: AsyncApp = slack_app(slack)
        self.bodies: list[Json] = []
        self.slack = slack

        async def note(body: Json) -> None:
            self.bodies.append(body)
            slack.changes.notify()

        for kind in (
            "message", "app_mention", "reaction_added", "app_home_opened", "assistant_thread_started",
            "assistant_thread_context_changed", "member_joined_channel", "channel_archive", "tokens_revoked",
        ):  # fmt: skip
            self.app.event(kind)(note)

    @property
    def events(self) -> list[Json]:
        return [each["event"] for each in self.bodies if isinstance(each["event"], dict)]

    async def hears(self, count: int) -> None:
        await self.slack.wait_for(lambda: len(self.bodies) >= count and self.slack.unheard == 0)


async def test_a_direct_message_arrives_as_slack_sends_it(slack: SlackEmulator) -> None:
    ear, ann = Ear(slack), slack.person("Ann")
    async with connected(slack, ear.app):
        said = await slack.private(ann).says(ann, "1 < 2 & https://example.org")
        await ear.hears(1)
    body, event = ear.bodies[0], ear.events[0]
    assert event["text"] == "1 &lt; 2 &amp; <https://example.org>"
    assert (event["channel_type"], event["user"], event["ts"]) == ("im", ann.id, said.ts)
    assert (body["team_id"], body["api_app_id"]) == ("T0PARLEY", "A0PARLEY")


async def test_a_mention_in_a_channel_comes_twice_with_one_ts(slack: SlackEmulator) -> None:
    ear, ann = Ear(slack), slack.person("Ann")
    async with connected(slack, ear.app):
        await slack.group("general", [ann]).says(ann, "@parley_bot hello")
        await ear.hears(2)
    assert {str(each["type"]) for each in ear.events} == {"message", "app_mention"}
    assert len({str(each["ts"]) for each in ear.events}) == 1
    assert len({str(each["event_id"]) for each in ear.bodies}) == 2
    assert slack.events_used == {"message.channels", "app_mention"}


async def test_changes_and_deletions_are_told(slack: SlackEmulator) -> None:
    ear, ann = Ear(slack), slack.person("Ann")
    chat = slack.private(ann)
    said = await chat.says(ann, "Fisrt")
    await chat.edits(said, "First")
    await chat.unfurls(said, {"title": "A preview", "from_url": "https://example.org"})
    await chat.deletes(said)
    async with connected(slack, ear.app):
        await ear.hears(4)
    changed = [each for each in ear.events if each.get("subtype") == "message_changed"]
    assert len(changed) == 2
    assert sum(each.get("subtype") == "message_deleted" for each in ear.events) == 1


async def test_other_apps_and_files_are_heard(slack: SlackEmulator) -> None:
    ear, ann, jira = Ear(slack), slack.person("Ann"), slack.person("Jira", is_bot=True)
    chat = slack.group("general", [ann])
    async with connected(slack, ear.app):
        await chat.posts(jira, "New issue", attachments=[{"fallback": "P-1", "text": "Broken"}])
        await chat.hooks(jira, "By a hook")
        await chat.says(ann, "See", document=("a.txt", b"abc", "text/plain"))
        await ear.hears(3)
    by_text = {str(each["text"]): each for each in ear.events}
    assert by_text["New issue"]["bot_id"] == jira.bot_id
    assert by_text["By a hook"]["subtype"] == "bot_message"
    assert by_text["See"]["subtype"] == "file_share"


async def test_an_unacknowledged_event_comes_again_and_then_no_more(slack: SlackEmulator) -> None:
    slack.ack_timeout, slack.line.retry_delays = 0.05, (0.0, 0.0, 0.0)
    ann = slack.person("Ann")
    frames: list[Json] = []
    async with aiohttp.ClientSession() as session:
        client = AsyncWebClient(slack.app_token, base_url=slack.api_url)
        url = (await client.apps_connections_open(app_token=slack.app_token))["url"]
        async with session.ws_connect(url) as ws:
            assert (await ws.receive_json())["type"] == "hello"
            await slack.private(ann).says(ann, "Anybody?")
            frames = [await ws.receive_json() for _ in range(4)]
            await slack.wait_for(lambda: slack.unheard == 0)
    assert [each["retry_attempt"] for each in frames] == [0, 1, 2, 3]
    assert [each["retry_reason"] for each in frames] == ["", "timeout", "timeout", "timeout"]
    assert len({each["envelope_id"] for each in frames}) == 4
    assert len(slack.line.lost) == 1


async def test_a_ticket_works_once_and_an_eleventh_socket_is_sent_away(slack: SlackEmulator) -> None:
    client = AsyncWebClient(slack.app_token, base_url=slack.api_url)

    async def ticket() -> str:
        return str((await client.apps_connections_open(app_token=slack.app_token))["url"])

    async with aiohttp.ClientSession() as session:
        used = await ticket()
        sockets = [await session.ws_connect(used)]
        with pytest.raises(aiohttp.WSServerHandshakeError):
            await session.ws_connect(used)
        sockets += [await session.ws_connect(await ticket()) for _ in range(9)]
        greetings = [await each.receive_json() for each in sockets]
        assert greetings[-1]["num_connections"] == 10
        async with session.ws_connect(await ticket()) as late:
            assert (await late.receive_json())["reason"] == "too_many_websockets"
        for each in sockets:
            await each.close()


async def test_each_event_goes_to_one_of_two_sockets(slack: SlackEmulator) -> None:
    ear, ann = Ear(slack), slack.person("Ann")
    async with connected(slack, ear.app), connected(slack, ear.app):
        chat = slack.private(ann)
        for each in range(6):
            await chat.says(ann, str(each))
        await ear.hears(6)
        assert [each.delivered for each in slack.hub.sockets] == [3, 3]


async def test_after_a_refresh_the_app_comes_back(slack: SlackEmulator) -> None:
    ear, ann = Ear(slack), slack.person("Ann")
    async with connected(slack, ear.app, ping=0.2):
        slack.refresh("refresh_requested")
        await slack.private(ann).says(ann, "Still there?")
        await ear.hears(1)
        assert slack.hub.opened >= 2  # a busy app may take a socket for dead that answers late


async def test_after_a_broken_connection_the_app_comes_back(slack: SlackEmulator) -> None:
    ear, ann = Ear(slack), slack.person("Ann")
    async with connected(slack, ear.app, ping=0.2):
        await slack.wait_for(lambda: slack.connected)
        slack.kill_connections()
        await slack.wait_for(lambda: not slack.connected)
        await slack.private(ann).says(ann, "Still there?")
        await ear.hears(1)


async def test_a_forgetful_slack_loses_what_nobody_listens_to(slack: SlackEmulator) -> None:
    slack.forgetful = True
    ann = slack.person("Ann")
    await slack.private(ann).says(ann, "Anybody?")
    assert (slack.unheard, len(slack.line.lost)) == (0, 1)


async def test_events_come_doubled_reordered_and_again(slack: SlackEmulator) -> None:
    ear, ann = Ear(slack), slack.person("Ann")
    chat = slack.private(ann)
    async with connected(slack, ear.app):
        slack.faults.duplicate()
        await chat.says(ann, "One")
        await ear.hears(2)
        slack.redeliver()
        await ear.hears(3)
        assert len({str(each["event_id"]) for each in ear.bodies}) == 1
        slack.faults.reorder(2)
        await chat.says(ann, "Two")
        await chat.says(ann, "Three")
        await ear.hears(5)
        await slack.push({"type": "message", "nonsense": True})
        await ear.hears(6)


async def test_the_assistant_and_the_home_are_opened(slack: SlackEmulator) -> None:
    ear, ann = Ear(slack), slack.person("Ann")
    chat, general = slack.private(ann), slack.group("general", [ann])
    async with connected(slack, ear.app):
        slack.opens_home(ann)
        pane = await chat.opens_assistant(ann)
        await pane.looks_at(ann, general)
        said = await pane.says(ann, "Hello")
        await general.joins(slack.person("Ben"))
        await general.archive()
        await ear.hears(6)
    assert said.reply_to is pane.messages[0]
    assert {"app_home_opened", "assistant_thread_started", "assistant_thread_context_changed", "channel_archive"} <= {
        str(each["type"]) for each in ear.events
    }


def answers(app: AsyncApp, done: Callable[[], None]) -> None:
    """Add a button, a command and a modal to the app."""

    async def command(ack: AsyncAck, body: Json, client: AsyncWebClient, respond: AsyncRespond) -> None:
        await ack(text=f"Working on {body['text']}")
        if body["text"] == "form":
            await client.views_open(trigger_id=str(body["trigger_id"]), view=FORM)
        else:
            await respond("Done", response_type="in_channel")

    async def press(ack: AsyncAck, respond: AsyncRespond) -> None:
        await ack()
        await respond("Pressed", replace_original=True)

    async def submitted(ack: AsyncAck, body: Json) -> None:
        await ack(response_action="errors", errors={"b": "No"}) if "bad" in str(body) else await ack()
        done()

    app.command("/parley")(command)
    app.action("go")(press)
    app.view("form")(submitted)


INPUT = {"type": "plain_text_input", "action_id": "why"}
LABEL = {"type": "plain_text", "text": "Why?"}
FORM = {
    "type": "modal",
    "callback_id": "form",
    "title": LABEL,
    "submit": LABEL,
    "blocks": [{"type": "input", "block_id": "b", "label": LABEL, "element": INPUT}],
}
GO = {"type": "button", "action_id": "go", "value": "v", "text": {"type": "plain_text", "text": "Go"}}


async def test_a_button_is_pressed_and_its_message_replaced(slack: SlackEmulator) -> None:
    app, ann = slack_app(slack), slack.person("Ann")
    answers(app, slack.changes.notify)
    chat = slack.private(ann)
    async with connected(slack, app):
        blocks = [{"type": "actions", "elements": [GO]}]
        await app.client.chat_postMessage(channel=chat.id, text="Go?", blocks=blocks)
        press = await chat.presses(ann, "Go")
        await chat.until(lambda c: c.screen == ["Pressed"] and press.answered)


async def test_a_command_is_answered_in_three_ways(slack: SlackEmulator) -> None:
    app, ann = slack_app(slack), slack.person("Ann")
    answers(app, slack.changes.notify)
    chat = slack.group("general", [ann])
    async with connected(slack, app):
        await chat.says(ann, "/status now")
        await chat.until(lambda c: sorted(c.screen) == ["Done", "Working on status now"])
    assert "commands" in slack.scopes_used


async def test_in_a_thread_a_command_is_a_message_with_an_exclamation_mark(slack: SlackEmulator) -> None:
    ann = slack.person("Ann")
    chat = slack.group("general", [ann])
    root = await chat.says(ann, "@parley_bot hello")
    said = await chat.thread(root).says(ann, "/status now")
    assert (said.text, said.reply_to) == ("!status now", root)


async def test_a_modal_is_opened_refused_and_handed_in(slack: SlackEmulator) -> None:
    app, ann = slack_app(slack), slack.person("Ann")
    answers(app, slack.changes.notify)
    async with connected(slack, app):
        await slack.private(ann).says(ann, "/form")
        await slack.wait_for(lambda: len(slack.views) == 1)
        refused = await slack.submits(ann, slack.views[0], {"why": "bad"})
        await slack.wait_for(lambda: refused.answered)
        assert refused.answer == {"response_action": "errors", "errors": {"b": "No"}}
        await slack.submits(ann, slack.views[0], {"why": "because"})
        await slack.wait_for(lambda: slack.views == [])


async def test_a_command_that_nobody_takes_fails_before_the_person(slack: SlackEmulator) -> None:
    ann = slack.person("Ann")
    chat = slack.private(ann)
    await chat.says(ann, "/status")
    assert chat.notices == ['/parley failed with the error "dispatch_failed"']


async def test_a_response_address_is_good_for_five_answers(slack: SlackEmulator) -> None:
    app, ann = slack_app(slack), slack.person("Ann")
    chat = slack.private(ann)
    given: asyncio.Queue[str] = asyncio.Queue()

    async def command(ack: AsyncAck, body: Json) -> None:
        await ack()
        given.put_nowait(str(body["response_url"]))

    app.command("/parley")(command)
    async with connected(slack, app), aiohttp.ClientSession() as session:
        await chat.says(ann, "/status")
        url = await given.get()
        statuses = []
        for each in range(6):
            async with session.post(url, json={"text": f"Answer {each}"}) as response:
                statuses.append(response.status)
    assert statuses == [200] * 5 + [404]
    assert len(chat.screen) == 5
