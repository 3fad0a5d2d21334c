"""Ten seconds with five tools under Telegram's limits: what a person sees, and what Telegram minds."""

from itertools import pairwise

from bench.figures import Figure
from bench.stage import Seat, Stage, stage
from tests.emulators.control import Call
from tests.emulators.model_script import Answer, ModelRequest, ToolUse, calls, says

TOOLS = 5
TOOL_S = 2.1
MODEL_S = 0.2
ANSWER = "All five have been waited for. " * 8
CHANGES = ("sendMessage", "editMessageText", "sendMessageDraft")


def respond(asked: ModelRequest) -> Answer:
    done = sum(message["role"] == "tool" for message in asked.messages)
    if done < TOOLS:
        return calls(ToolUse("wait", {"seconds": TOOL_S}))
    return says(ANSWER, first_byte=MODEL_S, per_chunk=0.02)


async def figures() -> list[Figure]:
    async with stage(respond, seats=1) as scene, scene.bot():
        seat = scene.seats[0]
        began = await _talk(seat)
        longest = _longest_wait(scene, seat, began)
        left, edits = len(seat.chat.bot_messages), len(scene.telegram.calls_of("editMessageText"))
        refused = len(_refused(scene))
    async with stage(respond, seats=1) as scene, scene.bot():
        scene.telegram.faults.rate_limit("editMessageText", retry_after=3)
        await _talk(scene.seats[0])
        in_window, limited = scene.telegram.calls_in_window, len(_refused(scene))
    return [
        Figure("messages left of a 10 s run", left, "", 2),
        Figure("longest time without a visible change", longest, "s", 2),
        Figure("edits", edits, ""),
        Figure("refused calls", refused, "", 0),
        Figure("with one edit answered 429: refused calls", limited, "", 1),
        Figure("with one edit answered 429: calls while told to wait", in_window, "", 0),
    ]


async def _talk(seat: Seat) -> float:
    began = await seat.says("wait five times")
    await seat.chat.until(lambda chat: any(ANSWER.strip()[-20:] in text for text in chat.screen), 40)
    # The answer may be there before the line under it is folded.
    await seat.chat.until(lambda chat: not any("…" in text for text in chat.screen), 10)
    return began


def _longest_wait(scene: Stage, seat: Seat, began: float) -> float:
    """Seconds between two changes on the screen; the typing sign is the first of them."""
    changes = [call.at for call in scene.telegram.calls if call.method in CHANGES and call.status == 200]
    moments = sorted([began, seat.chat.actions[0].at, *changes])
    return max(after - before for before, after in pairwise(moments))


def _refused(scene: Stage) -> list[Call]:
    return [call for call in scene.telegram.calls if call.status is not None and call.status >= 400]
