"""A time that only a model understands is left to it, where there is one."""

from pathlib import Path

import pytest

from agent_core.messages import UserMessage, text_of
from agent_core.models.llm import LlmRequest
from agent_core.models.no_model import NO_MODEL
from agent_core.models.scripted import Turn, calls
from tests.gateway.jobs.asking import press, typed_ids
from tests.gateway.jobs.kit import ANN, make_timed_bot, moment


async def test_the_model_reads_a_wish_in_another_language_and_the_person_confirms_it(tmp_path: Path) -> None:
    said: list[str] = []

    def plans(request: LlmRequest) -> Turn:
        said.extend(text_of(each.content) for each in request.messages if isinstance(each, UserMessage))
        return calls(("schedule", {"kind": "reminder", "what": "Ben anrufen", "when": "2026-11-24T09:00"}))

    bot = make_timed_bot(tmp_path, [plans, "Die Vorschau ist da."], new_request_id=typed_ids())
    await bot.start()
    await bot.hears("/remind morgen um 9 Uhr Ben anrufen")
    assert said == ["Remind me: morgen um 9 Uhr Ben anrufen"]

    await press(bot, "Confirm")
    [job] = await bot.store.jobs.in_chat(ANN)
    assert job.next_at == moment("2026-11-24 09:00")
    await bot.stop()


async def test_a_report_is_left_to_the_model_as_well(tmp_path: Path) -> None:
    bot = make_timed_bot(tmp_path, ["Wann genau?"])
    await bot.start()
    await bot.hears("/cron add montags früh die Notizen ansehen")
    assert bot.screen == ["Wann genau?"]
    await bot.stop()


@pytest.mark.parametrize("command", ["/remind", "/cron add"])
async def test_without_a_model_it_is_said_in_one_line_how_to_write_it(tmp_path: Path, command: str) -> None:
    bot = make_timed_bot(tmp_path, [], model=NO_MODEL)
    await bot.start()
    await bot.hears(f"{command} morgen um 9 Uhr Ben anrufen")
    assert bot.screen == [
        "I do not understand the time. Write it in front, in English or Chinese, for example `tomorrow 9:00 call Ann`."
    ]
    await bot.stop()
