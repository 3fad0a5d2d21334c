"""Every client reports a failure in the provider's own words, without internals of a library."""

import pytest

from agent_core.events import AgentEnd
from agent_core.models.failures import redact
from agent_core.models.litellm_client import LitellmClient
from agent_core.models.llm import FailureCause, FailureKind, LlmFailure
from agent_core.models.openai_client import OpenAiClient
from agent_core.reasons import TerminalReason
from gateway.runs.model_failures import Reader, trouble_text
from gateway.security.secrets import Secrets
from gateway.texts.say import LANGUAGES, Language
from tests.agent_core.models.clients import KEY, OPTIONS, OVER_A_WIRE, Meeting, Talk
from tests.emulators.model_script import Answer, Break, Failure, Turn, calls, says

pytestmark = pytest.mark.in_turn("meets", list(OVER_A_WIRE), indirect=True)

INNARDS = ("Traceback", "File ", "site-packages", "litellm", "Exception", "Error", "object at 0x", "b'{", '{"type"')
LONG = "a sentence that is long enough to be broken"
TRACEBACK = """'delta'
Traceback (most recent call last):
  File "/srv/app/.venv/lib/python3.11/site-packages/litellm/handler.py", line 1239, in __anext__
    result = self._parse(data)
KeyError: 'delta'"""


@pytest.fixture
def meets(request: pytest.FixtureRequest) -> Meeting:
    return OVER_A_WIRE[request.param]


async def failure_of(meets: Meeting, answer: Answer) -> LlmFailure:
    stalls = isinstance(answer, Turn) and answer.breaks is not None and answer.breaks.kind == "stall"
    options = OPTIONS.model_copy(update={"timeout_s": 2}) if stalls else OPTIONS
    async with meets([answer]) as talk:
        failure = (await talk.done(options=options)).failure
    assert failure is not None
    return failure


def reads(failure: LlmFailure, *, is_owner: bool, language: Language = "en") -> str:
    end = AgentEnd(
        reason=TerminalReason.ERROR,
        messages=(),
        error=failure.message,
        failure=failure.kind,
        cause=failure.cause,
        address=failure.address,
    )
    return trouble_text(end, "abc", "openai/gpt", Reader(language, "/", is_owner=is_owner), Secrets())


@pytest.mark.parametrize("kind", ["cut", "garbage", "misshapen", "error", "end", "stall"])
@pytest.mark.parametrize("tools", [False, True])
async def test_of_a_stream_that_broke_nobody_reads_how_our_program_looks_inside(
    meets: Meeting, kind: str, *, tools: bool
) -> None:
    if kind == "misshapen" and meets is OVER_A_WIRE["litellm-gemini"]:
        pytest.skip("such a chunk of Gemini's is passed over")
    breaks = Break(kind, 1)  # type: ignore[arg-type]
    failure = await failure_of(meets, calls("echo", breaks=breaks) if tools else says(LONG, breaks=breaks))

    assert failure.kind is FailureKind.TRANSIENT
    for text in (failure.message, reads(failure, is_owner=True)):
        assert not [found for found in INNARDS if found in text], text


@pytest.mark.parametrize(
    ("kind", "cause"),
    [("cut", FailureCause.NETWORK), ("stall", FailureCause.NETWORK), ("error", FailureCause.SERVER)],
)
async def test_a_line_that_broke_reads_otherwise_than_a_server_that_failed(
    meets: Meeting, kind: str, cause: FailureCause
) -> None:
    assert (await failure_of(meets, says(LONG, breaks=Break(kind, 1)))).cause is cause  # type: ignore[arg-type]


@pytest.mark.parametrize("language", LANGUAGES)
async def test_of_a_server_that_is_gone_the_owner_reads_address_and_remedy_and_others_one_sentence(
    meets: Meeting, language: Language
) -> None:
    async with meets([]) as talk:
        assert talk.server is not None
        await talk.server.leave()
        failure = (await talk.done()).failure
        address = talk.server.url.removeprefix("http://")

    assert failure is not None
    assert (failure.message, failure.address) == (f"nothing answers at {address}", address)
    assert not failure.may_be_billed
    owner, other = (reads(failure, is_owner=each, language=language) for each in (True, False))
    assert f"`{address}`" in owner
    assert "parley connect model" in owner
    assert not [found for found in (*INNARDS, "ssl:", "Cannot connect") if found in owner]
    assert address not in other
    assert owner.startswith(other)


@pytest.mark.parametrize("wrong", ["https", "nobody.invalid"])
async def test_a_server_that_speaks_no_tls_and_a_name_that_nobody_has_are_told_as_such(
    meets: Meeting, wrong: str
) -> None:
    async with meets([]) as talk:
        assert talk.server is not None
        place = talk.server.url.removeprefix("http://")
        address = f"https://{place}" if wrong == "https" else f"http://{wrong}:80"
        client = OpenAiClient(address, KEY) if isinstance(talk.client, OpenAiClient) else LitellmClient(KEY, address)
        failure = (await Talk(client, talk.model).done()).failure
        await client.close()

    assert failure is not None
    assert failure.cause is FailureCause.NETWORK
    told = f"there is no safe connection to {place}" if wrong == "https" else f"no address is known of {wrong}:80"
    assert failure.message.startswith(told)
    assert f"openai/gpt: {told}" in reads(failure, is_owner=True)


@pytest.mark.parametrize("reason", ["rate_limit", "server", "overloaded", "auth", "overflow", "bad_request"])
async def test_of_a_refusal_the_status_and_the_words_of_the_provider_are_told(meets: Meeting, reason: str) -> None:
    failure = await failure_of(meets, Failure(reason, message="These very words."))  # type: ignore[arg-type]

    assert failure.message.startswith("HTTP ")
    assert failure.message.endswith(": These very words.")


async def test_a_server_that_tells_its_own_inside_is_cut_off(meets: Meeting) -> None:
    failure = await failure_of(meets, Failure("server", message=TRACEBACK))

    assert failure.message == "HTTP 500: 'delta'"


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (TRACEBACK, "'delta'"),
        ('it broke File "/srv/a b/x.py", line 3, in <module> for good', "it broke for good"),
        (
            "Cannot connect to host h:1 ssl:<ssl.SSLContext object at 0x7f3ea01bf890> [refused]",
            "Cannot connect to host h:1 [refused]",
        ),
        ("a File of mine, line 3", "a File of mine, line 3"),
    ],
)
def test_what_is_the_inside_of_a_program_is_taken_out(text: str, left: str) -> None:
    assert redact(text) == left
