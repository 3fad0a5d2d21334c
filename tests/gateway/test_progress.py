"""The progress message shows a few short lines, and the answer so far."""

from agent_core.events import (
    AgentEvent,
    AgentStart,
    MessageStart,
    MessageUpdate,
    PermissionRequest,
    RetryScheduled,
    ToolExecutionEnd,
    ToolExecutionStart,
    ToolExecutionUpdate,
    TurnStart,
)
from agent_core.messages import AssistantMessage, StopReason, TextContent
from agent_core.models.llm import TextDelta, ThinkingDelta
from agent_core.origin import CLEAN
from agent_core.reasons import TransitionReason
from agent_core.tool_result import ToolResult
from gateway.delivery.progress import MOST_CHARS, MOST_LINES, Progress
from gateway.texts.say import Language


def after(*events: AgentEvent, language: Language = "en") -> Progress:
    progress = Progress(language)
    for event in events:
        progress.apply(event)
    return progress


def result(text: str) -> ToolResult:
    return ToolResult(content=(TextContent(text=text),), origin=CLEAN)


def starts(call: str, label: str = "Reading a file", at: float = 100.0) -> ToolExecutionStart:
    arguments = {"path": "secret.txt", "token": "sk-123"}
    return ToolExecutionStart(tool_call_id=call, tool_name="read_file", label=label, args=arguments, ts=at)


def says(call: str, text: str) -> ToolExecutionUpdate:
    return ToolExecutionUpdate(tool_call_id=call, tool_name="read_file", partial=result(text))


def ends(call: str, at: float = 101.0, *, failed: bool = False, summary: str = "") -> ToolExecutionEnd:
    outcome = result("the contents: sk-456").model_copy(update={"summary": summary})
    return ToolExecutionEnd(tool_call_id=call, tool_name="read_file", result=outcome, is_error=failed, ts=at)


def streams(*pieces: str) -> list[AgentEvent]:
    begun = MessageStart(message=AssistantMessage(content=(), stop_reason=StopReason.STOP, origin=CLEAN))
    return [begun, *(MessageUpdate(message_id="a", delta=TextDelta(index=0, delta=piece)) for piece in pieces)]


def retries(scope: str) -> RetryScheduled:
    return RetryScheduled.model_validate(
        {"scope": scope, "attempt": 1, "max_attempts": 4, "delay_s": 2.0, "error": "overloaded sk-789"}
    )


BEGUN = AgentStart(ts=100.0)


def test_at_first_it_says_that_it_works() -> None:
    assert after().text(100.0) == "Working…"
    assert after(BEGUN).text(100.0) == "Working…"
    assert after(BEGUN, language="zh").text(104.0) == "处理中… (4 s)"


def test_a_tool_at_work_a_finished_and_a_failed_one_have_marks_of_their_own() -> None:
    progress = after(
        starts("1", "Looking"), ends("1"), starts("2", "Reading"), ends("2", failed=True), starts("3", "Thinking")
    )

    assert progress.text(100.2).splitlines() == ["✓ Looking (1 s)  ", "✗ Reading (1 s)  ", "… Thinking"]


def test_what_came_of_a_call_stays_beside_it() -> None:
    progress = after(starts("1", "Editing plan.md"), says("1", "half way"), ends("1", summary="+3 -1"), starts("2"))

    assert progress.text(101.0).splitlines()[0] == "✓ Editing plan.md: +3 -1 (1 s)  "


def test_seconds_count_while_a_tool_works_and_stand_still_after() -> None:
    working = after(starts("1", "Reading"))
    assert [working.text(now) for now in (100.9, 101.0, 112.4)] == ["… Reading", "… Reading (1 s)", "… Reading (12 s)"]

    working.apply(ends("1", at=103.0))
    assert working.text(150.0).startswith("✓ Reading (3 s)")


def test_between_tools_people_see_that_it_goes_on() -> None:
    between = after(BEGUN, starts("1", "Reading"), ends("1"))

    assert between.text(104.0).splitlines() == ["✓ Reading (1 s)  ", "Working… (4 s)"]
    assert between.text(105.0) != between.text(104.0)


def test_at_most_eight_lines_of_120_characters() -> None:
    progress = after(*(starts(str(number), f"{number} " + "long " * 60) for number in range(20)))

    lines = progress.text(163.0).split("  \n")
    assert len(lines) == MOST_LINES == 8
    assert max(len(line) for line in lines) == MOST_CHARS == 120
    assert lines[-1].startswith("… 19 long")
    assert lines[-1].endswith("… (63 s)")


def test_a_retry_note_counts_as_one_of_the_lines() -> None:
    progress = after(*(starts(str(number)) for number in range(20)), retries("llm"))

    assert len(progress.text(100.0).split("  \n")) == MOST_LINES


def test_a_label_stays_on_one_line() -> None:
    assert after(starts("1", "Reading\n\n# a\theading\r\n")).text(100.0) == "… Reading # a heading"


def test_what_a_tool_says_meanwhile_stands_beside_its_label_until_it_ends() -> None:
    progress = after(starts("1", "Loading"), says("1", "page 3\nof 9"))
    assert progress.text(100.0) == "… Loading: page 3 of 9"

    progress.apply(ends("1", at=100.5))
    assert progress.text(101.0).splitlines()[0].strip() == "✓ Loading"


def test_a_long_command_leaves_room_for_what_it_says() -> None:
    progress = after(starts("1", "Running sh -c '" + "long " * 60 + "'"), says("1", "step 3 of 14"))
    line = progress.text(112.0)

    assert line.startswith("… Running sh -c 'long")
    assert line.endswith("…: step 3 of 14 (12 s)")
    assert len(line) == MOST_CHARS

    progress.apply(says("1", "much " * 60))
    assert "…: much" in progress.text(112.0)
    assert len(progress.text(112.0)) <= MOST_CHARS


def test_an_update_of_an_unknown_call_is_left_out() -> None:
    assert after(says("9", "hm"), ends("9")).text(100.0) == "Working…"


def test_nothing_of_arguments_results_and_errors_is_shown() -> None:
    progress = after(starts("1"), ends("1"), starts("2"), ends("2", failed=True), retries("llm"))

    shown = progress.text(120.0) + progress.folded(120.0)
    assert "sk-" not in shown
    assert "secret" not in shown


def test_the_answer_is_shown_as_far_as_it_has_come() -> None:
    progress = after(starts("1", "Reading"), ends("1"), *streams("Take", " an", " umbr"))

    assert progress.text(101.0) == "✓ Reading (1 s)\n\nTake an umbr"


def test_a_long_answer_is_cut_to_the_room_there_is() -> None:
    progress = after(*streams("x" * 5_000))

    assert progress.text(100.0, room=1_000) == "x" * 1_000 + "…"


def test_a_new_answer_replaces_one_that_broke_off() -> None:
    assert after(*streams("Take an"), *streams("An umb")).text(100.0) == "An umb"


def test_an_answer_that_is_gone_on_with_stays_while_the_rest_comes() -> None:  # S3-22
    goes_on = TurnStart(turn=2, reason=TransitionReason.MAX_OUTPUT_RECOVERY)

    progress = after(*streams("An umb"), goes_on, *streams("rel"))
    assert progress.text(100.0) == "An umbrel"

    again = after(*streams("An umb"), goes_on, *streams("re"), retries("llm"), *streams("rella"))
    assert again.text(100.0) == "An umbrella"


def test_thoughts_are_not_shown() -> None:
    thought = MessageUpdate(message_id="a", delta=ThinkingDelta(index=0, delta="hm, secret"))

    assert after(*streams(), thought).text(100.0) == "Working…"


def test_a_model_that_failed_is_told_until_it_answers() -> None:
    waiting = after(retries("llm"))
    assert waiting.text(100.0) == "… The model failed; retrying in 2 s"
    assert after(retries("llm"), language="zh").text(100.0) == "… 模型出错，2 秒后重试"

    for event in streams("Hello"):
        waiting.apply(event)
    assert waiting.text(100.0) == "Hello"


def test_a_tool_that_is_tried_again_is_no_news() -> None:
    assert after(starts("1", "Reading"), retries("tool")).text(100.0) == "… Reading"


def test_it_folds_to_one_line_in_both_languages() -> None:
    three: list[AgentEvent] = [BEGUN, *(starts(str(number)) for number in range(3))]

    assert after(*three).folded(112.0) == "3 tools, 12 s"
    assert after(*three, language="zh").folded(112.0) == "3 个工具，12 秒"
    assert after(BEGUN, starts("1")).folded(104.0) == "1 tool, 4 s"
    assert after(BEGUN, starts("1"), language="zh").folded(104.0) == "1 个工具，4 秒"
    assert after(BEGUN).folded(104.0) == "Took 4 s"
    assert after(BEGUN, language="zh").folded(104.0) == "用时 4 秒"


def test_it_knows_since_when_a_tool_works() -> None:
    progress = after(starts("1", at=100.0), starts("2", at=101.0))
    assert progress.running_since == 100.0

    progress.apply(ends("1"))
    assert progress.running_since == 101.0
    progress.apply(ends("2"))
    assert progress.running_since is None


def test_the_words_of_an_answer_that_broke_off_are_gone_while_it_is_asked_again() -> None:
    assert after(*streams("Half an"), retries("llm")).text(100.0) == "… The model failed; retrying in 2 s"


def test_what_a_tool_works_on_is_no_markdown() -> None:
    line = after(starts("a", "Calculating 17*23*2")).text(100.0)

    assert line == r"… Calculating 17\*23\*2"


def test_tools_are_named_in_the_language_of_the_chat() -> None:
    start = starts("a", "Reading plan.txt").model_copy(update={"labels": {"zh": "读取 plan.txt"}})

    assert after(start, language="zh").text(100.0) == "… 读取 plan.txt"
    assert after(start).text(100.0) == "… Reading plan.txt"


def test_where_there_is_no_room_the_tools_are_shown_and_no_words() -> None:
    progress = after(BEGUN, starts("1", "Reading"), ends("1"), *streams("Half an answer"))

    assert progress.text(102.0, room=0).splitlines() == ["✓ Reading (1 s)  ", "Working… (2 s)"]
    assert progress.text(102.0).endswith("Half an answer")


def test_beside_a_row_that_waits_for_a_person_no_line_says_that_it_works() -> None:
    asks = PermissionRequest(tool_call_id="9", tool_name="read_file", args={}, request_id="r", reason="")
    progress = after(BEGUN, starts("9"))
    assert progress.text(103.0, calls=False, seconds=True) == "Working… (3 s)"
    progress.apply(asks)
    assert [row.state for row in progress.calls] == ["waiting"]
    assert progress.text(103.0, calls=False, seconds=True) == ""
