"""Progress under the platform's limits: ten seconds with five tools, and an answer that the model writes slowly.

Tells the changes that users see, the calls that are refused, and how soon words are seen.
"""

from itertools import pairwise

from bench.figures import Figure, median
from bench.stage import Seat, Stage, stage
from tests.emulators.model_script import Answer, ModelRequest, ToolUse, Turn, calls

TOOLS = 5
TOOL_S = 2.1
MODEL_S = 0.2
WORDS_WITHIN = {"telegram": 150, "slack": 150, "discord": 300}
"""Milliseconds in which the first words are to be seen, by platform."""
WRITERS = 5
"""Chats in which an answer is written, one after another."""
BEFORE_S = 1.0
"""Seconds before the first token of such an answer."""
PIECE_S = 0.15
"""Seconds before each of its pieces."""
STORY = "Once upon a time there was a slow model. " * 4
ANSWER = "All five have been waited for. " * 8


def respond(asked: ModelRequest) -> Answer:
    if "story" in asked.last_text:
        return Turn(STORY, first_byte=BEFORE_S, per_chunk=PIECE_S)
    done = sum(message["role"] == "tool" for message in asked.messages)
    if done < TOOLS:
        return calls(ToolUse("wait", {"seconds": TOOL_S}))
    return Turn(ANSWER, first_byte=MODEL_S, per_chunk=0.02)


async def figures(on: str) -> list[Figure]:
    async with stage(respond, on, seats=1) as scene, scene.bot():
        seat = scene.seats[0]
        began = await _talk(seat)
        longest = _longest_wait(seat, began)
        left = seat.chat.bot_messages
        edits = len(seat.changes) - len(left)
        refused = len(scene.refused())
    async with stage(respond, on, seats=1) as scene, scene.bot():
        scene.net.faults.rate_limit(scene.net.edit, retry_after=3)
        await _talk(scene.seats[0])
        in_window, limited = scene.emulator.calls_in_window, len(scene.refused())
    first_words, calls_each = await _written(on)
    return [
        Figure("first words after the model's first token, median", first_words, "ms", WORDS_WITHIN[on]),
        Figure("calls to the platform for an answer that is written for 3 s", calls_each, ""),
        Figure("messages left of a 10 s run", len(left), "", 1),
        Figure("longest time without a visible change", longest, "s", 2),
        Figure("further changes on the screen", edits, ""),
        Figure("refused calls", refused, "", 0),
        Figure("with one edit answered 429: refused calls", limited, "", 1),
        Figure("with one edit answered 429: calls while told to wait", in_window, "", 0),
    ]


async def _written(on: str) -> tuple[float, float]:
    """Let a model write slowly.

    Returns:
        The median time in milliseconds from its first token until its first words are seen.
        The number of calls to the platform for each answer.
    """
    async with stage(respond, on, seats=WRITERS) as scene, scene.bot():
        took, before = [], _calls(scene)
        for seat in scene.seats:
            await seat.says("tell me a story")
            await seat.answered(STORY.strip(), 1, 20)
            seen = seat.first_words(STORY[:4])
            token = scene.model.requests[-1].at + BEFORE_S + PIECE_S
            took += [1000 * (seen - token)] if seen is not None else []
        made = _calls(scene) - before
    return median(took), made / WRITERS


def _calls(scene: Stage) -> int:
    return sum(call.method != scene.place.opening for call in scene.emulator.calls)


async def _talk(seat: Seat) -> float:
    began = await seat.says("wait five times")
    await seat.chat.until(lambda chat: any(ANSWER.strip()[-20:] in text for text in chat.screen), 40)
    # The answer may appear before the progress line under it is folded.
    await seat.chat.until(lambda chat: not any("…" in text for text in chat.screen), 10)
    return began


def _longest_wait(seat: Seat, began: float) -> float:
    """Return the longest time in seconds between two changes on the screen. A typing indicator counts when it appears,
    not when it is renewed."""
    moments = sorted([began, seat.signs(began)[0], *(at for at in seat.changes if at > began)])
    return max(after - before for before, after in pairwise(moments))
