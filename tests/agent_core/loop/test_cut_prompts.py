"""A server that silently truncates prompts is detected by the tokens it reports; honest servers never are."""

import base64
import json
import random
from collections.abc import Callable
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path

import pytest
import tiktoken
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer

from agent_core.context.compaction.plan import COMPACT_AT
from agent_core.loop.truncation import DOUBTED_BELOW, SMALLEST_WINDOW, fewest_tokens, was_cut
from agent_core.messages import AssistantMessage, LlmMessage, StopReason, TextContent, Usage
from agent_core.models.llm import LlmRequest
from agent_core.models.scripted import SCRIPTED_MODEL, Turn
from agent_core.origin import CLEAN
from agent_core.reasons import TerminalReason
from tests.agent_core.context.compacting import Talker, asks_for_summary, start_chat, turns
from tests.agent_core.kit import answers, end_of, kinds
from tests.agent_core.over_a_wire import MakeWireModel
from tests.emulators import model_script
from tests.examples import examples
from tests.messages import user
from tests.process import REPOSITORY

HELD = 4_096
"""Prompt tokens that the server accepts, whatever the client assumes."""
Count = Callable[[str], int]


@cache
def tokenizer(name: str) -> Count:
    """Return a token counter of OpenAI's older or newer model, or Anthropic's; all three ship with litellm."""
    litellm = find_spec("litellm")  # importing it takes 2 s and asks the network for prices
    assert litellm is not None
    assert litellm.origin is not None
    folder = Path(litellm.origin).parent / "litellm_core_utils" / "tokenizers"
    if name == "anthropic":
        whole = Tokenizer.from_file(str(folder / "anthropic_tokenizer.json"))
        return lambda text: len(whole.encode(text).ids)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TIKTOKEN_CACHE_DIR", str(folder))
        encoding = tiktoken.get_encoding(name)
    return lambda text: len(encoding.encode(text, disallowed_special=()))


TOKENIZERS = ["cl100k_base", "o200k_base", "anthropic"]


def read(*paths: str) -> str:
    return "\n".join((REPOSITORY / path).read_text("utf-8") for path in paths)


CHANCE = random.Random(7)  # noqa: S311 - the same in every run


@cache
def noise(size: int) -> bytes:
    return CHANCE.randbytes(size)


CORPORA: dict[str, Callable[[], str]] = {
    "prose": partial(read, "README.md", "ARCHITECTURE.md"),
    "code": partial(read, "agent_core/loop/calls.py", "gateway/chat/session.py"),
    "styles": partial(read, "pyproject.toml"),
    "chinese": lambda: (
        "请帮我订一张明天上午去东京的机票，然后把行程发到我的邮箱。如果没有直飞，就选中转时间最短的那一班。" * 40
    ),
    "chinese of one word": lambda: "人工智能" * 2_000,
    "japanese": lambda: (
        "明日の朝、東京行きの飛行機を予約してください。直行便がなければ、乗り継ぎ時間が最も短い便を選んでください。"
        * 40
    ),
    "korean": lambda: (
        "내일 아침 도쿄로 가는 비행기를 예약해 주세요. 직항이 없으면 환승 시간이 가장 짧은 편을 골라 주세요. " * 40
    ),
    "russian": lambda: "Закажи мне, пожалуйста, билет на завтрашний утренний рейс в Токио и пришли маршрут. " * 40,
    "hindi": lambda: "कृपया मेरे लिए कल सुबह टोक्यो की उड़ान का टिकट बुक करें। " * 40,
    "thai": lambda: "กรุณาจองตั๋วเครื่องบินไปโตเกียวพรุ่งนี้เช้าให้ฉันด้วย " * 40,
    "arabic": lambda: "من فضلك احجز لي تذكرة طيران إلى طوكيو صباح الغد. " * 40,
    "base64": lambda: base64.b64encode(noise(30_000)).decode(),
    "base64 of nothing": lambda: base64.b64encode(bytes(30_000)).decode(),
    "hex": lambda: noise(10_000).hex(),
    "numbers": lambda: json.dumps([CHANCE.randrange(10**6) for _ in range(3_000)]),
    "blanks": lambda: " " * 30_000 + "\n" * 10_000 + "\t" * 10_000,
    "lines": lambda: "=" * 20_000 + "-" * 20_000,
    "one letter": lambda: "a" * 30_000,
    "one word": lambda: "the " * 10_000,
    "emoji": lambda: "😀👍🏽🎉" * 2_000,
    "rows": lambda: "id,name,city\n" + "17,Ann,Oslo\n" * 3_000,
}


@pytest.mark.parametrize("name", TOKENIZERS)
@pytest.mark.parametrize("corpus", CORPORA)
def test_no_server_that_counts_all_is_doubted(name: str, corpus: str) -> None:  # U-10
    text = CORPORA[corpus]()

    assert tokenizer(name)(text) >= DOUBTED_BELOW * fewest_tokens(text)


PIECES = st.one_of(
    st.text(max_size=40),
    st.sampled_from([make()[:400] for make in CORPORA.values()]),
    st.text("aA0_ .\n", max_size=40),
    st.text("的是不了在人有我他这中国日本にのはをが하는", max_size=40),
)


@given(pieces=st.lists(PIECES, min_size=1, max_size=12))
@settings(max_examples=examples(150), deadline=None)
def test_whatever_is_mixed_is_never_fewer_than_any_tokenizer_counts(pieces: list[str]) -> None:  # U-10
    text = "".join(pieces)

    for name in TOKENIZERS:
        assert tokenizer(name)(text) + len(pieces) >= DOUBTED_BELOW * fewest_tokens(text)


def test_most_of_a_long_prompt_is_counted() -> None:
    """Otherwise truncation would never be detected."""
    text = CORPORA["prose"]()

    assert fewest_tokens(text) >= 0.6 * tokenizer("o200k_base")(text)


def answer(text: str) -> AssistantMessage:
    return AssistantMessage(content=(TextContent(text=text),), stop_reason=StopReason.STOP, origin=CLEAN)


LONG = "many words of a long talk " * 2_000  # about 12,000 tokens


def request(*messages: LlmMessage) -> LlmRequest:
    return LlmRequest(system="Be brief.", messages=messages)


@pytest.mark.parametrize(
    ("messages", "counted", "cut"),
    [
        ((user(LONG),), HELD, True),
        ((user(LONG), answer("yes"), user("and now?")), HELD, True),
        ((user(LONG), answer("yes"), user("and now?")), 12_000, False),
        ((user(LONG), answer("yes"), user("and now?")), 9_000, False),
        ((user(LONG), answer("yes"), user("and now?")), 8, False),  # the server does not count cached tokens
        ((user(LONG), answer("yes"), user("word " * 700)), 710, False),  # cached tokens are not counted
        ((user(LONG), answer("yes"), user("码" * 1_000)), 2_900, False),  # the same in Chinese
        ((user("hello"), answer("yes"), user("and now?")), SMALLEST_WINDOW, False),
        ((user(LONG),), 0, False),  # no usage reported
        ((user(LONG),), 100, False),  # fewer than any window holds
    ],
)
def test_what_is_far_too_little_is_found_and_what_may_come_from_a_cache_is_not(
    messages: tuple[LlmMessage, ...], counted: int, *, cut: bool
) -> None:  # U-10
    assert was_cut(request(*messages), Usage(input=counted)) is cut


def test_what_was_read_from_a_cache_counts() -> None:  # U-10
    messages = (user(LONG), answer("yes"), user("and now?"))

    assert not was_cut(request(*messages), Usage(input=HELD, cache_read=8_000))


async def test_a_conversation_that_a_server_has_cut_is_made_so_short_that_it_fits(
    model_of: MakeWireModel,
) -> None:  # U-10, U-11
    llm, talker = model_of(), Talker()
    sizes: list[int] = []

    def counts(asked: LlmRequest) -> Turn:
        size = tokenizer("o200k_base")(asked.system + str([message.content for message in asked.messages]))
        if not asks_for_summary(asked):
            sizes.append(size)
        llm.usage = model_script.Usage(input=min(size, HELD))
        return talker(asked)

    chat = start_chat(Talker(), *[counts] * 9, window=32_000, over=llm)
    chat.agent.replace_messages(turns(45, length=24))

    events = await chat.says("So when does it leave?")

    assert end_of(events).reason is TerminalReason.COMPLETED
    assert kinds(events).count("compaction_start") == 1
    assert answers(events)[-1] == "ok"
    assert sizes[0] > 2 * HELD
    assert sizes[-1] < HELD
    again = await chat.says("And who flies?")
    assert "compaction_start" not in kinds(again)


async def test_a_conversation_that_a_server_has_taken_in_whole_is_left_alone(
    model_of: MakeWireModel,
) -> None:  # U-10
    llm = model_of()
    llm.usage = model_script.Usage(input=int(SCRIPTED_MODEL.context_window * COMPACT_AT) // 2)
    chat = start_chat(window=32_000, over=llm)
    chat.agent.replace_messages(turns(45, length=24))

    assert "compaction_start" not in kinds(await chat.says("So when does it leave?"))
