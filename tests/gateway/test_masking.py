"""Every text in a value is masked, except the ids by which it is looked up."""

from collections import Counter
from collections.abc import Callable

import pytest
from pydantic import BaseModel

from agent_core.messages import (
    AssistantMessage,
    ImageContent,
    JsonObject,
    NotificationMessage,
    Opaque,
    StopReason,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolResultMessage,
    UserMessage,
    text_of,
)
from agent_core.models.llm import FailureKind, LlmFailure, LlmOptions, LlmRequest, StreamDone, TextDelta, ToolSpec
from agent_core.models.scripted import SCRIPTED_MODEL, Call, CutOff, Failure, ScriptedLlm, Turn
from agent_core.origin import CLEAN
from channels.attachments import Attachment
from channels.base import (
    Button,
    ButtonPressed,
    ChatKey,
    CommandInvoked,
    MessageEdited,
    MessageReceived,
    OutboundMessage,
    Sender,
)
from channels.memory import MemoryChannel
from gateway.security.masked_channel import MaskedChannel
from gateway.security.masking import KEPT, MASK, masked
from gateway.security.masking_client import MaskingClient
from gateway.security.secrets import Secrets, _Forms
from tests.gateway.conftest import StartBot
from tests.messages import user

KEY = "sk-0123456789-abcdef"
SECRETS = Secrets([KEY])
CHAT = ChatKey(platform="memory", account=KEY, chat=KEY, thread=KEY)
WHO = Sender(id=KEY, name=f"Ann {KEY}")
FILE = Attachment(name=f"{KEY}.txt", reference=KEY, path=f"/home/{KEY}")

EVENTS: list[BaseModel] = [
    MessageReceived(
        event_id=KEY,
        chat=CHAT,
        sender=WHO,
        at=1,
        text=KEY,
        message_id=KEY,
        attachments=(FILE,),
        reply_to=KEY,
        quoted=KEY,
    ),
    MessageEdited(event_id=KEY, chat=CHAT, sender=WHO, at=1, text=KEY, message_id=KEY),
    ButtonPressed(event_id=KEY, chat=CHAT, sender=WHO, at=1, action=KEY, message_id=KEY),
    CommandInvoked(event_id=KEY, chat=CHAT, sender=WHO, at=1, name=KEY, arguments=KEY, message_id=KEY, respond=KEY),
]
BUTTON = Button(label=KEY, action=f"/do {KEY}")
OUTBOUND = OutboundMessage(markdown=KEY, buttons=((BUTTON,),), attachments=(FILE,), reply_to=KEY, respond=KEY)
ARGUMENTS: JsonObject = {KEY: [KEY, {"deep": KEY, "number": 1}], "none": None}
MESSAGES: list[BaseModel] = [
    UserMessage(id=KEY, content=(TextContent(text=KEY),), source=KEY, context=KEY, origin=CLEAN),
    AssistantMessage(
        id=KEY,
        content=(
            TextContent(text=KEY),
            ThinkingContent(thinking=KEY, signature="s"),
            ToolCall(id=KEY, name=KEY, arguments=ARGUMENTS, arguments_error=KEY),
        ),
        stop_reason=StopReason.STOP,
        error_message=KEY,
        origin=CLEAN,
    ),
    ToolResultMessage(
        tool_call_id=KEY, tool_name=KEY, content=(TextContent(text=KEY),), details=ARGUMENTS, origin=CLEAN
    ),
    NotificationMessage(kind="k", text=KEY, data=ARGUMENTS, origin=CLEAN),
]


def words(value: object) -> list[str]:
    """Return every text in a value except its ids."""
    match value:
        case str():
            return [value]
        case ChatKey():
            return []
        case BaseModel():
            return [word for name, field in value if name not in KEPT for word in words(field)]
        case dict():
            return [word for key, item in value.items() for word in (key, *words(item))]
        case tuple() | list():
            return [word for item in value for word in words(item)]
        case _:
            return []


@pytest.mark.parametrize("value", [*EVENTS, OUTBOUND, *MESSAGES], ids=lambda value: type(value).__name__)
def test_every_text_is_masked_and_every_id_stays(value: BaseModel) -> None:
    safe = masked(value, SECRETS.mask)

    assert [word for word in words(safe) if KEY in word] == []
    kept = {name: field for name, field in value if name in KEPT or isinstance(field, ChatKey)}
    assert {name: getattr(safe, name) for name in kept} == kept
    assert type(safe).model_validate_json(safe.model_dump_json()) == safe


def test_what_holds_no_secret_is_the_same_object() -> None:
    nothing = Secrets(["another-secret-that-is-not-there"])

    assert all(masked(value, nothing.mask) is value for value in [*EVENTS, OUTBOUND, *MESSAGES])


def test_a_picture_is_left_alone_and_so_is_the_sender() -> None:
    picture = ImageContent(data=KEY, mime_type="image/png")

    assert masked(picture, SECRETS.mask) is picture
    assert masked(WHO, SECRETS.mask) == Sender(id=KEY, name=f"Ann {MASK}")


def test_thinking_that_was_masked_is_not_vouched_for_any_more() -> None:
    thought = ThinkingContent(thinking=f"it is {KEY}", signature="signed")

    assert masked(thought, SECRETS.mask) == ThinkingContent(thinking=f"it is {MASK}", signature=None)


def test_the_name_of_a_tool_stays_one_that_providers_take() -> None:
    assert masked(ToolCall(id="1", name=f"get_{KEY}", arguments={}), SECRETS.mask).name == "get_secret"


async def ask(turn: Turn, request: LlmRequest) -> tuple[ScriptedLlm, list[str], StreamDone]:
    """Send a request through `MaskingClient`; return the inner client, the deltas and the end."""
    llm = ScriptedLlm(turn)
    events = [event async for event in MaskingClient(llm, SECRETS).stream(SCRIPTED_MODEL, request, LlmOptions())]
    done = events[-1]
    assert isinstance(done, StreamDone)
    return llm, [event.delta for event in events if isinstance(event, TextDelta)], done


async def test_a_model_is_asked_without_secrets_whoever_put_them_there() -> None:
    tool = ToolSpec(name="look", description=f"uses {KEY}", parameters={"properties": {"a": {"default": KEY}}})
    request = LlmRequest(
        system=f"The key is {KEY}",
        messages=tuple(each for each in MESSAGES[:3]),
        tools=(tool,),
    )

    llm, *_ = await ask("Hi.", request)

    assert [word for word in words(llm.requests[0]) if KEY in word] == []
    assert llm.requests[0].system == f"The key is {MASK}"


ENDS: dict[str, Callable[[], Turn]] = {
    "words": lambda: f"It is {KEY}!",
    "a call": lambda: CutOff("so", (Call("get", {"what": [KEY]}), Call("get", f'{{"broken": "{KEY}'))),
    "a failure": lambda: Failure(FailureKind.FATAL, f"no {KEY}", after_words=KEY),
}


@pytest.mark.parametrize("kind", ENDS)
async def test_what_a_model_says_is_kept_without_secrets(kind: str) -> None:
    _, _, done = await ask(ENDS[kind](), LlmRequest(system="", messages=()))

    assert [word for word in words(done) if KEY in word] == []
    assert any(MASK in word for word in words(done))
    assert done.failure is None or isinstance(done.failure, LlmFailure)


async def test_a_channel_says_no_secret_even_one_that_is_cut_in_two() -> None:
    channel = MemoryChannel()
    masked_channel = MaskedChannel(channel, SECRETS)
    room = channel.limits.max_text

    parts = masked_channel.split(OutboundMessage(markdown=f"{'x' * (room - 10)}{KEY}"))
    posted = await masked_channel.post(channel.chat(), OUTBOUND, "k")
    await masked_channel.rewrite(posted, OUTBOUND.model_copy(update={"silent": True}))

    assert "".join(part.markdown for part in parts).endswith(f"x{MASK}")
    [(_, shown)] = channel.posts
    assert [word for word in words(shown) if KEY in word] == []
    assert shown.attachments[0].path == FILE.path, "a file that could not be found again would not be sent"
    assert KEY not in str(channel.states)


async def test_what_becomes_a_secret_later_is_masked_in_what_was_asked_before() -> None:
    secrets = Secrets()
    llm = ScriptedLlm("ok", "ok")
    masking = MaskingClient(llm, secrets)
    request = LlmRequest(system="", messages=(user("the key is correct-horse-battery"),))

    for _ in range(2):
        _ = [event async for event in masking.stream(SCRIPTED_MODEL, request, LlmOptions())]
        secrets.add("correct-horse-battery")

    assert [text_of(asked.messages[0].content) for asked in llm.requests] == [
        "the key is correct-horse-battery",
        "the key is [secret]",
    ]


async def test_a_message_is_searched_for_secrets_once_at_each_border(
    start_bot: StartBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    searched: Counter[str] = Counter()
    search = _Forms.mask

    def counted(self: _Forms, text: str) -> str:
        searched[text] += 1
        return search(self, text)

    monkeypatch.setattr(_Forms, "mask", counted)
    bot = await start_bot("Blue today.", secrets=Secrets([KEY]))

    await bot.hears("What colour is the sky?")

    assert bot.screen == ["Blue today."]
    assert searched["What colour is the sky?"] == len(["it comes in", "it joins the transcript"])
    assert searched["Blue today."] == len(
        ["the model answers", "it joins the transcript", "it is split for the channel", "it joins the outbox"]
    )


def test_an_object_is_searched_again_once_there_is_another_secret() -> None:
    secrets = Secrets()
    said = user(f"the key is {KEY}")

    assert secrets.masked(said) is said
    secrets.add(KEY)
    safe = secrets.masked(said)

    assert text_of(safe.content) == f"the key is {MASK}"
    assert secrets.masked(safe) is safe


def test_what_goes_back_to_a_model_is_dropped_if_a_secret_stands_in_it() -> None:
    opaque = Opaque(provider="host", model="m", reasoning_in=("reasoning",), fields={"extra_content": f"it is {KEY}"})
    call = ToolCall(id="c", name="clock", arguments={}, opaque={"extra_content": KEY})

    assert masked(opaque, SECRETS.mask) == opaque.model_copy(update={"fields": {}})
    assert masked(call, SECRETS.mask) == call.model_copy(update={"opaque": None})
