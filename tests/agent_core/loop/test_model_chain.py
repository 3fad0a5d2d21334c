"""When a model fails, the next one answers, at once or after retries; failing models are rested for a while."""

from collections.abc import Callable

import pytest

from agent_core.events import AgentEvent, RetryScheduled
from agent_core.loop.model_chain import ACCOUNT_REST_S, Candidate, ModelChain
from agent_core.messages import AssistantMessage
from agent_core.models.llm import FailureCause, FailureKind, LlmFailure, ModelInfo
from agent_core.models.scripted import SCRIPTED_MODEL, Failure, ScriptedLlm, Turn, calls
from agent_core.reasons import TerminalReason
from tests.agent_core.kit import MakeModel, StartAgent, answers, echo, end_of, kinds
from tests.clock import FakeClock

DOWN = Failure(message="overloaded")
BROKE = Failure(FailureKind.QUOTA, "no money")
GONE = Failure(FailureKind.INVALID, "no such model", cause=FailureCause.NOT_FOUND)


OneModel = Callable[..., Candidate]


@pytest.fixture
def one(model_of: MakeModel) -> OneModel:
    """Return a function that makes a named model with the given turns."""
    return lambda name, *turns: Candidate(ModelInfo(id=name), model_of(*turns))


def alone(name: str) -> Candidate:
    """Return a model that is never asked."""
    return Candidate(ModelInfo(id=name), ScriptedLlm())


def changes(events: list[AgentEvent]) -> list[tuple[str | None, str | None]]:
    return [(event.model, event.next_model) for event in events if isinstance(event, RetryScheduled)]


async def test_when_the_retries_are_spent_the_next_model_answers_the_same_request(
    starts: StartAgent, one: OneModel
) -> None:  # C-05
    second = one("second", "From me.")
    talk = starts(DOWN, DOWN, DOWN, DOWN, tools=[echo], chain=ModelChain([second]))

    events = await talk.says("hello")

    assert changes(events) == [("scripted", None)] * 3 + [("scripted", "second")]
    assert answers(events) == ["From me."]
    assert isinstance(second.llm, ScriptedLlm)
    assert second.llm.requests == talk.llm.requests[-1:]
    last = talk.agent.state.messages[-1]
    assert isinstance(last, AssistantMessage)
    assert last.model == "second"
    assert end_of(events).reason is TerminalReason.COMPLETED


async def test_the_next_model_is_prepared_while_the_first_is_tried_again(starts: StartAgent, one: OneModel) -> None:
    second, expected = one("second"), list[Candidate]()
    talk = starts(DOWN, "Hello.", tools=[echo], chain=ModelChain([second], expects=expected.append))

    await talk.says("hello")

    assert expected == [second]


@pytest.mark.parametrize("failure", [BROKE, Failure(FailureKind.AUTH), GONE], ids=["quota", "auth", "not-found"])
async def test_what_a_retry_cannot_mend_goes_to_the_next_model_at_once(
    starts: StartAgent, one: OneModel, failure: Failure
) -> None:  # U-09
    talk = starts(failure, tools=[echo], chain=ModelChain([one("second", "From me.")]))

    events = await talk.says("hello")

    assert answers(events) == ["From me."]
    assert talk.clock.slept == []


@pytest.mark.parametrize("kind", [FailureKind.INVALID, FailureKind.OVERFLOW])
async def test_what_is_wrong_with_the_request_goes_to_no_other_model(
    starts: StartAgent, one: OneModel, kind: FailureKind
) -> None:  # C-25
    second = one("second", "never")
    talk = starts(Failure(kind), tools=[echo], chain=ModelChain([second]))

    events = await talk.says("hello")

    assert end_of(events).failure is kind
    assert isinstance(second.llm, ScriptedLlm)
    assert second.llm.requests == []


async def test_a_server_that_asks_for_too_long_a_wait_is_not_waited_for(
    starts: StartAgent, one: OneModel
) -> None:  # S4-43
    talk = starts(Failure(retry_after_s=61), tools=[echo], chain=ModelChain([one("second", "From me.")]))

    assert answers(await talk.says("hello")) == ["From me."]
    assert talk.clock.slept == []


async def test_without_a_cap_any_wait_is_waited_for(starts: StartAgent) -> None:  # S4-43
    talk = starts(Failure(retry_after_s=6100), "ok")
    talk.agent.loop.models.options = talk.agent.loop.models.options.model_copy(update={"max_retry_delay_s": 0})

    assert answers(await talk.says("hello")) == ["ok"]
    assert talk.clock.slept == [6100]


async def test_when_all_fail_the_run_ends_with_the_last_failure(starts: StartAgent, one: OneModel) -> None:  # S2-33
    talk = starts(
        BROKE, tools=[echo], chain=ModelChain([one("second", Failure(FailureKind.AUTH, "no key")), one("third", BROKE)])
    )

    events = await talk.says("hello")

    assert changes(events) == [("scripted", "second"), ("second", "third")]
    assert kinds(events)[-4:] == ["+assistant", "-assistant", "turn_end 0", "agent_end error"]
    assert end_of(events).failure is FailureKind.QUOTA


async def test_words_of_the_model_that_failed_are_a_message_of_their_own(
    starts: StartAgent, one: OneModel
) -> None:  # C-05, U-11
    talk = starts(
        Failure(FailureKind.QUOTA, "no money", after_words="The ans"),
        tools=[echo],
        chain=ModelChain([one("second", "Four.", "4")]),
    )

    events = await talk.says("2 + 2?")

    assert answers(events) == ["The ans", "Four."]
    assert await talk.agent.run_direct("sure?") == "4"


async def test_a_stop_is_a_stop_and_no_failure(starts: StartAgent, one: OneModel) -> None:  # C-16
    second = one("second", "never")

    def stop(_: object) -> Turn:
        talk.agent.abort()
        return BROKE

    talk = starts(stop, tools=[echo], chain=ModelChain([second]))

    assert end_of(await talk.says("hello")).reason is TerminalReason.ABORTED
    assert isinstance(second.llm, ScriptedLlm)
    assert second.llm.requests == []


async def test_a_model_that_failed_is_left_alone_by_all_conversations_until_it_has_rested(
    starts: StartAgent, one: OneModel
) -> None:
    clock = FakeClock()
    chain = ModelChain([one("second", "a", "b", "c", "d")], clock)
    first, other = (
        starts(BROKE, "me again", tools=[echo], chain=chain),
        starts("never asked", "I am back", tools=[echo], chain=chain),
    )

    assert answers(await first.says("hello")) == ["a"]
    assert answers(await other.says("hello")) == ["b"]
    assert other.llm.requests == []
    clock.now += ACCOUNT_REST_S
    assert answers(await other.says("and now?")) == ["never asked"]


async def test_in_one_run_the_next_turns_go_to_the_model_that_works(starts: StartAgent, one: OneModel) -> None:
    chain = ModelChain([one("second", calls(("echo", {})), "Done.")])
    talk = starts(BROKE, "never", tools=[echo], chain=chain)

    events = await talk.says("go")

    assert answers(events) == ["", "Done."]
    assert len(talk.llm.requests) == 1


def rest(chain: ModelChain, kind: FailureKind, **how: float | FailureCause) -> float:
    """Report one failure, and return for how many seconds the model is rested."""
    chain.gave_up(SCRIPTED_MODEL, LlmFailure(kind=kind, message="x", **how))
    return chain.resting().get("scripted", 0.0)


def test_rests_double_from_a_minute_to_ten_and_begin_anew_after_an_answer() -> None:
    clock = FakeClock()
    chain = ModelChain([alone("second")], clock)
    rests = []
    for _ in range(6):
        rests.append(rest(chain, FailureKind.TRANSIENT))
        clock.now += 601

    assert rests == [60, 120, 240, 480, 600, 600]
    chain.answered(SCRIPTED_MODEL)
    assert rest(chain, FailureKind.FATAL) == 60


@pytest.mark.parametrize(
    ("kind", "asked", "seconds"),
    [
        (FailureKind.QUOTA, 0, 900),
        (FailureKind.AUTH, 0, 900),
        (FailureKind.TRANSIENT, 300, 300),
        (FailureKind.TRANSIENT, 30, 60),
        (FailureKind.TRANSIENT, 86_400, 900),
        (FailureKind.OVERFLOW, 0, 0),
        (FailureKind.INVALID, 0, 0),
        (FailureKind.FATAL, 0, 60),
    ],
)
def test_how_long_depends_on_what_failed(kind: FailureKind, asked: float, seconds: float) -> None:
    assert rest(ModelChain([alone("second")], FakeClock()), kind, retry_after_s=asked) == seconds


def test_a_model_that_is_not_there_is_left_alone_as_long_as_a_key_that_is_refused() -> None:
    chain = ModelChain([alone("second")], FakeClock())

    assert rest(chain, FailureKind.INVALID, cause=FailureCause.NOT_FOUND) == rest(chain, FailureKind.AUTH) == 900


def test_a_thousand_conversations_that_fail_at_once_have_failed_once() -> None:
    chain = ModelChain([alone("second")], FakeClock())

    assert {rest(chain, FailureKind.TRANSIENT) for _ in range(1000)} == {60}


async def test_a_model_alone_never_rests(starts: StartAgent) -> None:
    chain = ModelChain((), FakeClock())

    await starts(BROKE, chain=chain).says("go")

    assert chain.resting() == {}


def test_where_all_rest_the_soonest_back_is_asked_first() -> None:
    second = alone("second")
    chain = ModelChain([second], FakeClock())
    first = Candidate(SCRIPTED_MODEL, ScriptedLlm())
    rest(chain, FailureKind.QUOTA)
    chain.gave_up(second.model, LlmFailure(kind=FailureKind.TRANSIENT, message="x"))

    assert chain.order(first) == [second, first]
