"""The screen of runs: the list with its filters, the waterfall of a run, and the replay."""

import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

from agent_core.events import ToolExecutionEnd, ToolExecutionStart
from agent_core.messages import AssistantMessage, StopReason
from agent_core.models.scripted import calls
from agent_core.origin import CLEAN
from agent_core.reasons import TerminalReason
from agent_core.tool_result import ToolResult
from channels.memory import user
from channels.web.adapter import CHAT as MAIN_CHAT
from gateway.records.waterfall import Facts, Kind, spans
from gateway.store.archive import SaidRow, StepRow
from gateway.store.budget import Payer, Spent
from gateway.store.rows import Run, RunEnd
from gateway.store.run_records import Paid, RunFilter
from gateway.store.steps import Step
from tests.cpu import cpu_seconds_at_most
from tests.gateway.admin.desk import AdminWorld, admin_world
from tests.gateway.admin.test_pages import act
from tests.gateway.approving import acting, asked, recorder
from tests.page_server import say

XSS = "<img src=x onerror=alert(1)>"
RUN_XSS = calls(("run", {"command": ["echo", XSS]}))


async def shown(world: AdminWorld, path: str = "runs", status: int = 200) -> str:
    async with world.client() as client, client.get(f"/admin/{path}") as page:
        assert page.status == status
        return await page.text()


async def only_run(world: AdminWorld) -> str:
    (run,) = await world.bot.made.base.store.run_records.listed(RunFilter(), 10, 0)
    return run.run


async def test_an_empty_list_says_what_will_be_there(tmp_path: Path) -> None:
    async with admin_world(tmp_path) as world:
        assert "Nothing has run yet" in await shown(world)
        assert "No run is like this" in await shown(world, "runs?day=2020-01-01")


async def test_the_list_is_filtered_by_chat_person_day_and_outcome(tmp_path: Path) -> None:
    async with admin_world(tmp_path, "Hi Ann", "Hi Bob") as world:
        await world.bot.hears("hello", sender="ann")
        await world.bot.hears("hello", sender="bob")
        today = datetime.now(UTC).date()
        for query, people in {
            "": {"ann", "bob"},
            "chat=memory:here:ann": {"ann"},
            "person=memory:bob": {"bob"},
            "outcome=completed": {"ann", "bob"},
            "outcome=running": set(),
            f"day={today - timedelta(days=3)}": set(),
            "day=nonsense": {"ann", "bob"},
            "job=abc123": set(),
            "sort=cost": {"ann", "bob"},
            "page=7": set(),
            "page=nonsense": {"ann", "bob"},
        }.items():
            page = await shown(world, f"runs?{query}")
            cells = {each: f"<td>{each.title()} (memory:{each})<" for each in ("ann", "bob")}
            assert {each for each, cell in cells.items() if cell in page} == people, query


async def test_a_run_belongs_to_the_day_on_which_it_was_paid_for(tmp_path: Path) -> None:
    async with admin_world(tmp_path) as world:
        store, chat = world.bot.made.base.store, world.bot.channel.chat("bob")
        late = datetime(2026, 3, 1, 22, 59, tzinfo=UTC).timestamp()  # one minute before midnight in Paris
        await store.runs.begin(Run("dear", chat, "s", "bob", late))
        payer = Payer(chat, run="dear", user="bob", person="memory:bob")
        await store.spending.reserve("call", late + 120, payer, "m", Spent(1_000, 2_500_000_000))
        await store.runs.begin(Run("cheap", chat, "s", "bob", late))
        for day, found in {"2026-03-01": ["dear", "cheap"], "2026-03-02": ["dear"], "2026-03-03": []}.items():
            page = await shown(world, f"runs?day={day}&chat={chat}&person=memory:bob&sort=cost")
            assert [each for each in ("dear", "cheap") if f"/admin/runs/{each}" in page] == found
        assert "2.50 USD" in await shown(world, "runs?day=2026-03-02")


async def test_a_run_is_a_waterfall_of_its_calls_waits_and_delivery(tmp_path: Path) -> None:
    tool, _ = recorder()
    async with admin_world(tmp_path, RUN_XSS, "Done!", tools=(tool,)) as world, world.client() as client:
        request = await asked(world.bot, sender=user("bob"))
        run = await only_run(world)
        assert "goes on" in await shown(world, f"runs/{run}")
        await act(client, f"/approve {request}", chat=str(world.bot.channel.chat("bob")))
        await world.bot.app.settled()
        page = await shown(world, f"runs/{run}")
        for words in ("Model call", "Tool <code>run</code>", "Waited for an approval", "Delivery", "completed"):
            assert words in page
        assert page.count('<rect class="span-') >= 5
        assert "&lt;img src=x onerror=alert(1)&gt;" in page
        assert XSS not in page
        assert "goes on" not in page
        await shown(world, f"runs/{run[:8]}", 404)
        await shown(world, "runs/unknown", 404)


async def test_a_run_is_told_as_a_story(tmp_path: Path) -> None:
    tool, _ = recorder()
    async with admin_world(tmp_path, RUN_XSS, "It said **nothing**.", tools=(tool,)) as world, world.client() as client:
        request = await asked(world.bot, sender=user("bob"))
        run = await only_run(world)
        assert "a person is asked" in await shown(world, f"runs/{run}")
        assert "There is no answer in words." in await shown(world, f"runs/{run}")
        await act(client, f"/approve {request}", chat=str(world.bot.channel.chat("bob")))
        await world.bot.app.settled()
        page = await shown(world, f"runs/{run}")
        story = page[page.index('class="story"') :]
        for words in ("draw it", "<strong>run</strong>", "approved by", "It said <strong>nothing</strong>."):
            assert words in story
            story = story[story.index(words) :]
        assert "Show it in the chat" not in page, "it is a chat of another platform"
        assert "draw it" in await shown(world), "the list tells what was asked"
        seen = await world.seen_by_admin(f"runs/{run}")
        assert "draw it" not in seen
        assert "nothing" not in seen
        assert "draw it" not in await world.seen_by_admin("runs")


async def test_the_list_is_ordered_by_time_and_cost(tmp_path: Path) -> None:
    async with admin_world(tmp_path) as world:
        store, chat = world.bot.made.base.store, world.bot.channel.chat("bob")
        for name, began in (("slow", 100.0), ("quick", 200.0)):
            run = Run(name, chat, "s", "bob", began)
            await store.runs.begin(run)
            await store.runs.end(run, RunEnd(TerminalReason.COMPLETED, "scripted"), ())
        for sort, names in {"": ["quick", "slow"], "time": ["slow", "quick"], "nonsense": ["quick", "slow"]}.items():
            page = await shown(world, f"runs?sort={sort}")
            assert sorted(names, key=lambda name: page.index(f"/admin/runs/{name}")) == names
        assert '<th class="number" aria-sort="descending"><a href="/admin/runs?sort=time">' in await shown(
            world, "runs?sort=time"
        )


async def test_the_replay_shows_the_steps_and_that_they_fit(tmp_path: Path) -> None:
    async with admin_world(tmp_path, RUN_XSS, "Done!", tools=(acting("read"),)) as world:
        await world.bot.hears("go", sender="bob")
        page = await shown(world, f"runs/{await only_run(world)}/replay")
        assert "→ run" in page
        assert "Replayed, the steps rebuild the same conversation" in page
        assert XSS not in page
        assert "With short texts" in await shown(world, f"runs/{await only_run(world)}/replay?full")


async def test_an_admin_sees_times_of_others_and_words_of_their_own(tmp_path: Path) -> None:
    async with admin_world(tmp_path, RUN_XSS, "Done!", tools=(acting("read"),)) as world:
        await world.bot.hears("go", sender="bob")
        run = await only_run(world)
        page = await world.seen_by_admin(f"runs/{run}")
        assert "Tool <code>run</code>" in page
        assert "echo" not in page
        assert "/replay" not in page
        assert "echo" in await world.seen_by_admin(f"runs/{run}", "memory:bob")


async def test_a_thousand_steps_are_shown_in_parts(tmp_path: Path) -> None:
    async with admin_world(tmp_path) as world:
        store, chat, began = world.bot.made.base.store, world.bot.channel.chat("bob"), time.time() - 3_600
        await store.runs.begin(Run("long", chat, "s", "bob", began))
        steps = []
        for number in range(1_000):
            name = f"c{number}"
            start = ToolExecutionStart(tool_call_id=name, tool_name="look", label="", args={}, run_id="long")
            end = ToolExecutionEnd(
                tool_call_id=name,
                tool_name="look",
                result=ToolResult.of("", CLEAN),
                is_error=False,
                duration_ms=500,
                run_id="long",
            )
            for event, at in ((start, began + number), (end, began + number + 0.5)):
                steps.append(Step("long", at, {**event.model_dump(mode="json"), "type": event.type}, None))
        await store.steps.add(steps)
        with cpu_seconds_at_most(2):
            page = await shown(world, "runs/long?page=4")
        assert page.count('<rect class="span-') == 200
        assert "801–1000" in page
        assert ">1000</td>" in page


async def test_waits_for_a_budget_and_for_the_queue_have_their_own_bars(tmp_path: Path) -> None:
    async with admin_world(tmp_path, "Hello.") as world:
        await world.bot.hears("hello", sender="bob")
        (run,) = await world.bot.made.base.store.run_records.listed(RunFilter(), 1, 0)
        run = run._replace(started=100.0, ended=130.0)
        rows = (
            StepRow(1, 0, 101.0, {"type": "turn_start", "turn": 1}, None),
            StepRow(2, 0, 102.0, {"type": "budget_reached", "reason": "a day"}, None),
            SaidRow(3, "s", run.run, 1, AssistantMessage(content=(), stop_reason=StopReason.STOP, origin=CLEAN)),
            StepRow(4, 3, 130.0, {"type": "turn_end"}, None),
        )
        found = spans(Facts(run, (Paid(122.0, "m", 7, 9, "settled"),), (), {}, 98.0), rows)
        assert [(each.kind, each.begin, each.end) for each in found] == [
            (Kind.QUEUE, 98.0, 100.0),
            (Kind.BUDGET, 102.0, 122.0),
            (Kind.MODEL, 122.0, 130.0),
        ]
        assert (found[-1].tokens, found[-1].cost) == (7, 9)


async def test_a_run_is_shown_beside_the_other_answers_to_the_same_words(tmp_path: Path) -> None:
    async with admin_world(tmp_path, "It is 390.", "It is 391.", "You are welcome.") as world:
        for words in ("what is 17 * 23?", "/retry", "thanks"):
            await world.bot.hears(words)
        thanks, second, first = await world.bot.made.base.store.run_records.listed(RunFilter(), 10, 0)
        for run, other in ((first, second), (second, first)):
            page = await shown(world, f"runs/{run.run}")
            table = page[page.index("All answers to these words") :]
            assert f'href="/admin/runs/{other.run}"' in table
            assert f'href="/admin/runs/{run.run}"' not in table
            assert thanks.run not in table
            assert "<blockquote>what is 17 * 23?</blockquote>" in page
        assert "All answers to these words" not in await shown(world, f"runs/{thanks.run}")
        assert "All answers to these words" not in await world.seen_by_admin(f"runs/{first.run}")


async def test_a_run_of_the_page_shows_the_title_of_its_conversation_and_leads_there(tmp_path: Path) -> None:
    async with admin_world(tmp_path, "Up.", "Two.") as world, world.client() as client:
        await say(client, "How do the sales look?", conversation="about-sales")
        await world.bot.app.settled()
        await say(client, "And in the main one?")
        await world.bot.app.settled()
        conversations = world.bot.made.base.store.conversations
        await conversations.rename(MAIN_CHAT.model_copy(update={"thread": "about-sales"}), "Sales of <March>")

        for path in ("runs", f"runs/{await newest(world, 'about-sales')}"):
            page = await shown(world, path)
            assert 'href="/#about-sales">The page · Sales of &lt;March&gt;</a>' in page
        page = await shown(world)
        assert 'href="/#main">The page</a>' in page, "its title is the question, which stands above"
        assert page.count("And in the main one?") == 1
        for path in ("overview", "models"):
            assert "The page · Sales of &lt;March&gt;" in await shown(world, path), path

        hidden = await world.seen_by_admin("runs")
        assert "March" not in hidden
        assert "/#about-sales" not in hidden


async def newest(world: AdminWorld, conversation: str) -> str:
    chat = str(MAIN_CHAT.model_copy(update={"thread": conversation}))
    (run,) = await world.bot.made.base.store.run_records.listed(RunFilter(chat=chat), 10, 0)
    return run.run
