"""The emulated Web API, called by the real SDK."""

import aiohttp
import pytest
from pydantic import JsonValue
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from parley.testing.emulators.slack import SlackEmulator
from parley.testing.emulators.slack_clients import slack_client


@pytest.fixture
def client(slack: SlackEmulator) -> AsyncWebClient:
    return slack_client(slack)


def error_of(caught: pytest.ExceptionInfo[SlackApiError]) -> str:
    return str(caught.value.response["error"])


def button(label: str, value: str = "v") -> dict[str, JsonValue]:
    return {"type": "button", "action_id": value, "value": value, "text": {"type": "plain_text", "text": label}}


async def test_the_bot_learns_who_it_is(client: AsyncWebClient) -> None:
    answer = await client.auth_test()
    assert (answer["user_id"], answer["bot_id"], answer["team_id"]) == ("U0PARLEY", "B0PARLEY", "T0PARLEY")
    assert "chat:write" in answer.headers["x-oauth-scopes"]


@pytest.mark.parametrize(
    ("token", "error"), [("xoxb-wrong", "invalid_auth"), ("xapp-1-A0EMULATED-1-emulated", "not_allowed_token_type")]
)
async def test_a_wrong_token_is_refused(slack: SlackEmulator, token: str, error: str) -> None:
    with pytest.raises(SlackApiError) as caught:
        await AsyncWebClient(token, base_url=slack.api_url).auth_test()
    assert error_of(caught) == error


async def test_a_revoked_token_is_refused(slack: SlackEmulator, client: AsyncWebClient) -> None:
    slack.revoke()
    with pytest.raises(SlackApiError) as caught:
        await client.auth_test()
    assert error_of(caught) == "token_revoked"


async def test_a_missing_scope_is_named(slack: SlackEmulator, client: AsyncWebClient) -> None:
    ann = slack.person("Ann")
    slack.scopes.discard("users:read")
    with pytest.raises(SlackApiError) as caught:
        await client.users_info(user=ann.id)
    assert (error_of(caught), caught.value.response["needed"]) == ("missing_scope", "users:read")


async def test_scopes_that_were_used_are_noted(slack: SlackEmulator, client: AsyncWebClient) -> None:
    ann = slack.person("Ann")
    chat = slack.private(ann)
    await client.users_info(user=ann.id)
    await client.conversations_history(channel=chat.id)
    await client.chat_postMessage(channel=chat.id, text="Hello")
    assert slack.scopes_used == {"users:read", "im:history", "chat:write"}


async def test_a_message_is_shown_edited_and_deleted(slack: SlackEmulator, client: AsyncWebClient) -> None:
    chat = slack.private(slack.person("Ann"))
    posted = await client.chat_postMessage(channel=chat.id, text="One *moment*")
    assert chat.screen == ["One moment"]
    blocks = [{"type": "markdown", "text": "It is **391**, as `17 * 23` says:\n```python\nprint(391)\n```\n# Done"}]
    await client.chat_update(channel=chat.id, ts=posted["ts"], text="It is 391", blocks=blocks)
    assert chat.screen == ["It is 391, as 17 * 23 says:\nprint(391)\nDone"]
    assert chat.bot_messages[0].history == ["One moment", chat.screen[0]]
    await client.chat_delete(channel=chat.id, ts=posted["ts"])
    assert chat.screen == []


async def test_the_id_of_a_person_means_their_direct_messages(slack: SlackEmulator, client: AsyncWebClient) -> None:
    ann = slack.person("Ann")
    opened = await client.conversations_open(users=ann.id)
    posted = await client.chat_postMessage(channel=ann.id, text="Hello")
    assert posted["channel"] == opened["channel"]["id"] == slack.private(ann).id


@pytest.mark.parametrize(
    ("blocks", "error"),
    [
        ([{"type": "markdown", "text": "x" * 7000}] * 2, "msg_blocks_too_long"),
        ([{"type": "divider"}] * 51, "invalid_blocks"),
        ([{"type": "actions", "elements": [button("x" * 76)]}], "invalid_blocks"),
        ([{"type": "actions", "elements": [button("Go", "v" * 256)]}], "invalid_blocks"),
        ([{"type": "actions", "elements": [button("Go", f"v{each}") for each in range(26)]}], "invalid_blocks"),
        ([{"type": "section", "text": {"type": "mrkdwn", "text": "x" * 3001}}], "invalid_blocks"),
        ([{"type": "poem", "text": "x"}], "invalid_blocks"),
    ],
)
async def test_blocks_beyond_the_limits_are_refused(
    slack: SlackEmulator, client: AsyncWebClient, blocks: list[dict[str, JsonValue]], error: str
) -> None:
    with pytest.raises(SlackApiError) as caught:
        await client.chat_postMessage(channel=slack.private(slack.person("Ann")).id, text="x", blocks=blocks)
    assert error_of(caught) == error


async def test_an_edit_takes_less_text_than_a_message(slack: SlackEmulator, client: AsyncWebClient) -> None:
    chat = slack.private(slack.person("Ann"))
    posted = await client.chat_postMessage(channel=chat.id, text="x" * 40_000)
    with pytest.raises(SlackApiError) as caught:
        await client.chat_postMessage(channel=chat.id, text="x" * 40_001)
    assert error_of(caught) == "msg_too_long"
    with pytest.raises(SlackApiError) as caught:
        await client.chat_update(channel=chat.id, ts=posted["ts"], text="ä" * 2001)
    assert error_of(caught) == "msg_too_long"


async def test_messages_of_others_cannot_be_edited(slack: SlackEmulator, client: AsyncWebClient) -> None:
    ann = slack.person("Ann")
    chat = slack.private(ann)
    said = await chat.says(ann, "Mine")
    with pytest.raises(SlackApiError) as caught:
        await client.chat_update(channel=chat.id, ts=said.ts, text="Yours")
    assert error_of(caught) == "cant_update_message"
    with pytest.raises(SlackApiError) as caught:
        await client.chat_update(channel=chat.id, ts="1.000001", text="Nobody's")
    assert error_of(caught) == "message_not_found"


async def test_archived_and_left_channels_are_closed(slack: SlackEmulator, client: AsyncWebClient) -> None:
    ann = slack.person("Ann")
    archived, left = slack.group("old", [ann]), slack.group("left", [ann])
    await archived.archive()
    await left.kick_bot()
    for channel, error in ((archived.id, "is_archived"), (left.id, "not_in_channel"), ("C0", "channel_not_found")):
        with pytest.raises(SlackApiError) as caught:
            await client.chat_postMessage(channel=channel, text="Hello?")
        assert error_of(caught) == error


async def test_history_has_what_stands_outside_of_threads_newest_first(
    slack: SlackEmulator, client: AsyncWebClient
) -> None:
    ann = slack.person("Ann")
    chat = slack.group("general", [ann])
    said = [await chat.says(ann, f"Message {each}") for each in range(5)]
    await chat.says(ann, "In a thread", reply_to=said[0])
    page = await client.conversations_history(channel=chat.id, oldest=said[0].ts, limit=3)
    assert [each["text"] for each in page["messages"]] == ["Message 4", "Message 3", "Message 2"]
    rest = await client.conversations_history(
        channel=chat.id, oldest=said[0].ts, limit=3, cursor=page["response_metadata"]["next_cursor"]
    )
    assert [each["text"] for each in rest["messages"]] == ["Message 1"]
    assert not rest["has_more"]
    until = await client.conversations_history(channel=chat.id, latest=said[1].ts, inclusive=True)
    assert [each["text"] for each in until["messages"]] == ["Message 1", "Message 0"]


async def test_replies_have_the_root_and_metadata_on_request(slack: SlackEmulator, client: AsyncWebClient) -> None:
    ann = slack.person("Ann")
    chat = slack.group("general", [ann])
    root = await chat.says(ann, "@parley_bot help")
    metadata = {"event_type": "parley", "event_payload": {"key": "run-1:0"}}
    await client.chat_postMessage(channel=chat.id, text="Here", thread_ts=root.ts, metadata=metadata)
    replies = await client.conversations_replies(channel=chat.id, ts=root.ts, include_all_metadata=True)
    assert [each["text"] for each in replies["messages"]] == ["<@U0PARLEY> help", "Here"]
    assert replies["messages"][1]["metadata"] == metadata
    assert replies["messages"][1]["parent_user_id"] == ann.id
    plain = await client.conversations_replies(channel=chat.id, ts=root.ts)
    assert "metadata" not in plain["messages"][1]
    assert chat.thread(root).screen == ["Here"]


async def test_a_person_has_a_language_and_a_time_zone(slack: SlackEmulator, client: AsyncWebClient) -> None:
    ann = slack.person("Ann", language="zh-CN")
    user = (await client.users_info(user=ann.id, include_locale=True))["user"]
    assert (user["real_name"], user["locale"], user["is_bot"]) == ("Ann", "zh-CN", False)


async def test_a_reaction_is_put_once_and_taken_away_once(slack: SlackEmulator, client: AsyncWebClient) -> None:
    ann = slack.person("Ann")
    chat = slack.private(ann)
    said = await chat.says(ann, "Hello")
    await client.reactions_add(channel=chat.id, timestamp=said.ts, name="eyes")
    with pytest.raises(SlackApiError) as caught:
        await client.reactions_add(channel=chat.id, timestamp=said.ts, name="eyes")
    assert error_of(caught) == "already_reacted"
    await client.reactions_remove(channel=chat.id, timestamp=said.ts, name="eyes")
    with pytest.raises(SlackApiError) as caught:
        await client.reactions_remove(channel=chat.id, timestamp=said.ts, name="eyes")
    assert error_of(caught) == "no_reaction"
    assert [(each.action, each.text) for each in chat.actions] == [("reaction", "eyes"), ("reaction removed", "eyes")]


async def test_a_status_goes_when_the_bot_answers(slack: SlackEmulator, client: AsyncWebClient) -> None:
    ann = slack.person("Ann")
    chat = slack.private(ann)
    said = await chat.says(ann, "Hello")
    await client.assistant_threads_setStatus(channel_id=chat.id, thread_ts=said.ts, status="is thinking…")
    assert chat.thread(said).status == "is thinking…"
    await client.chat_postMessage(channel=chat.id, thread_ts=said.ts, text="Hello Ann")
    assert chat.thread(said).status == ""
    slack.assistant_allowed = False
    with pytest.raises(SlackApiError) as caught:
        await client.assistant_threads_setStatus(channel_id=chat.id, thread_ts=said.ts, status="is thinking…")
    assert error_of(caught) == "no_permission"


async def test_a_file_goes_up_and_comes_down(slack: SlackEmulator, client: AsyncWebClient) -> None:
    chat = slack.private(slack.person("Ann"))
    done = await client.files_upload_v2(
        channel=chat.id, filename="a plan.txt", content=b"the plan", title="Plan", initial_comment="See this"
    )
    assert chat.screen == ["[a plan.txt] See this"]
    assert chat.bot_messages[0].document is not None
    url = done["files"][0]["url_private_download"]
    async with aiohttp.ClientSession() as session:
        async with session.get(url, headers={"Authorization": f"Bearer {slack.bot_token}"}) as response:
            assert await response.read() == b"the plan"
        async with session.get(url) as response:
            assert (response.status, response.content_type) == (200, "text/html")


async def uploaded(client: AsyncWebClient, name: str, *, is_received: bool = True) -> str:
    """Make a file as the first two steps of an upload do, and return its id."""
    place = await client.files_getUploadURLExternal(filename=name, length=1)
    if is_received:
        async with aiohttp.ClientSession() as session, session.post(place["upload_url"], data=b"x") as answer:
            assert answer.status == 200
    return str(place["file_id"])


async def test_files_that_are_completed_together_are_one_message(slack: SlackEmulator, client: AsyncWebClient) -> None:
    chat = slack.private(slack.person("Ann"))
    files: list[dict[str, str | None]] = [{"id": await uploaded(client, f"{number}.txt")} for number in range(14)]
    await client.files_completeUploadExternal(files=files, channel_id=chat.id, initial_comment="All")
    (message,) = chat.bot_messages
    assert [file.name for file in message.files] == [f"{number}.txt" for number in range(14)]


@pytest.mark.parametrize("odd", ["unknown", "not received", "twice", "completed"])
async def test_files_that_cannot_be_completed_leave_the_others_to_be(
    slack: SlackEmulator, client: AsyncWebClient, odd: str
) -> None:
    chat = slack.private(slack.person("Ann"))
    good = await uploaded(client, "good.txt")
    other = await uploaded(client, "odd.txt", is_received=odd != "not received")
    if odd == "completed":
        await client.files_completeUploadExternal(files=[{"id": other}], channel_id=chat.id)
    wrong = {"unknown": "F0UNKNOWN", "twice": good}.get(odd, other)
    with pytest.raises(SlackApiError) as caught:
        await client.files_completeUploadExternal(files=[{"id": good}, {"id": wrong}], channel_id=chat.id)
    await client.files_completeUploadExternal(files=[{"id": good}], channel_id=chat.id)

    assert error_of(caught) == "file_not_found"
    assert chat.screen[-1] == "[good.txt]"


async def test_more_files_than_slack_takes_fail_as_they_do_there(slack: SlackEmulator, client: AsyncWebClient) -> None:
    chat = slack.private(slack.person("Ann"))
    files: list[dict[str, str | None]] = [{"id": await uploaded(client, f"{number}.txt")} for number in range(15)]
    with pytest.raises(SlackApiError) as caught:
        await client.files_completeUploadExternal(files=files, channel_id=chat.id)
    assert error_of(caught) == "internal_error"
    assert chat.screen == []


async def test_only_the_person_sees_an_ephemeral_message(slack: SlackEmulator, client: AsyncWebClient) -> None:
    ann = slack.person("Ann")
    chat = slack.group("general", [ann])
    await client.chat_postEphemeral(channel=chat.id, user=ann.id, text="Only you")
    assert chat.screen == ["Only you"]
    assert (await client.conversations_history(channel=chat.id))["messages"] == []


async def test_what_the_emulator_does_not_know_is_a_violation() -> None:
    async with SlackEmulator() as slack:
        client = slack_client(slack)
        with pytest.raises(SlackApiError):
            await client.api_call("chat.postMessage", json={"channel": "C1", "text": "x", "colour": "red"})
        with pytest.raises(SlackApiError):
            await client.api_call("chat.shout", json={})
        assert slack.violations == [
            "chat.postMessage: colour: Extra inputs are not permitted",
            "unknown method chat.shout",
        ]
