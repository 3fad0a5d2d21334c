"""Signed HTTP delivery of the emulated Slack, received by the real Bolt."""

import contextlib
from collections.abc import AsyncIterator

from aiohttp import web
from slack_bolt.async_app import AsyncAck, AsyncApp

from parley.testing.emulators.slack import SlackEmulator
from parley.testing.emulators.slack_clients import slack_app
from parley.testing.emulators.slack_wire import Json


@contextlib.asynccontextmanager
async def listening(app: AsyncApp) -> AsyncIterator[str]:
    """Serve the app and yield its address."""
    runner = web.AppRunner(app.web_app("/slack/events"), access_log=None, shutdown_timeout=0.01)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    port: int = runner.addresses[0][1]
    try:
        yield f"http://127.0.0.1:{port}/slack/events"
    finally:
        await runner.cleanup()


async def test_the_address_answers_the_challenge_and_takes_events(slack: SlackEmulator) -> None:
    app, ann, heard = slack_app(slack), slack.person("Ann"), list[str]()

    async def note(event: Json) -> None:
        heard.append(str(event["text"]))
        slack.changes.notify()

    app.event("message")(note)
    async with listening(app) as url:
        slack.deliver_to(url)
        assert await slack.hooks.verify()
        await slack.private(ann).says(ann, "Hello")
        await slack.wait_for(lambda: heard == ["Hello"] and slack.unheard == 0)


async def test_commands_come_as_forms_and_are_answered_in_the_body(slack: SlackEmulator) -> None:
    app, ann = slack_app(slack), slack.person("Ann")
    chat = slack.private(ann)

    async def command(ack: AsyncAck, body: Json) -> None:
        await ack(f"You said {body['text']}")

    app.command("/parley")(command)
    async with listening(app) as url:
        slack.deliver_to(url)
        await chat.says(ann, "/status now")
        await chat.until(lambda c: c.screen == ["You said status now"])


async def test_wrong_and_old_signatures_are_for_the_app_to_refuse(slack: SlackEmulator) -> None:
    async with listening(slack_app(slack)) as url:
        slack.deliver_to(url)
        assert await slack.hooks.send({"type": "url_verification", "challenge": "x"}) == 200
        assert await slack.hooks.replay() == 200
        assert await slack.hooks.send({"type": "url_verification", "challenge": "x"}, key="wrong") == 401
        assert await slack.hooks.send({"type": "url_verification", "challenge": "x"}, age=301) == 401


async def test_an_event_that_is_refused_comes_again_with_its_reason(slack: SlackEmulator) -> None:
    slack.line.retry_delays = (0.0, 0.0, 0.0)
    seen: list[tuple[str, str]] = []

    async def refuse(request: web.Request) -> web.Response:
        headers = request.headers
        seen.append((headers.get("X-Slack-Retry-Num", ""), headers.get("X-Slack-Retry-Reason", "")))
        stop = {"X-Slack-No-Retry": "1"} if len(seen) == 3 else {}
        return web.Response(status=500, headers=stop)

    app = web.Application()
    app.router.add_post("/", refuse)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.01)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    port: int = runner.addresses[0][1]
    slack.deliver_to(f"http://127.0.0.1:{port}/")
    ann = slack.person("Ann")
    await slack.private(ann).says(ann, "Hello")
    await slack.wait_for(lambda: slack.unheard == 0)
    await runner.cleanup()
    assert seen == [("", ""), ("1", "http_error"), ("2", "http_error")]
    assert len(slack.line.lost) == 1
