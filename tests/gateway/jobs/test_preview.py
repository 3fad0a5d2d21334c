"""The preview that users confirm before a job is set, and the message that remains of it."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from msgspec import structs

from agent_core.models.llm import ModelInfo
from agent_core.models.scripted import SCRIPTED_MODEL
from agent_core.origin import CLEAN, NOT_KNOWN
from agent_core.skills.library import SkillLibrary
from agent_core.skills.skill import Origin
from agent_core.tools.tool import Tool, tool
from channels.base import Button, ChatKey
from gateway.schedule.jobs.job_changes import Reshaping, reshaped, reshapings
from gateway.schedule.jobs.preview import (
    Cost,
    Costs,
    PreviewFacts,
    cancelled_line,
    change_panel,
    duration,
    next_slots,
    preview,
    quiet_hours,
    set_line,
    skill_use,
)
from gateway.schedule.times.quiet import QuietHours
from gateway.store.job import Firing, FiringState, Heartbeat, Job, Report, Work
from gateway.store.rule import Cron, Every, Once, Rule
from tests.gateway.jobs.kit import ANN, a_job, meaning, moment
from tests.gateway.test_skill_commands import write_skill

NOW = moment("2026-11-23 08:00")
WEEKDAYS = Cron(expression="0 9 * * 1-5")


def outlook(work: Work | str = "stretch", rule: Rule = WEEKDAYS, cost: Cost | None = None) -> PreviewFacts:
    job = a_job(work, rule)
    return PreviewFacts(job, NOW, next_slots(job, NOW), None, cost, "/")


def facts(seen: PreviewFacts) -> list[str]:
    return [line.removeprefix("- ") for line in preview(seen).markdown.split("\n") if line.startswith("- ")]


def test_a_report_shows_all_that_follows_from_a_yes() -> None:
    work = Report(instructions="What is new?\n# Be <!channel> short", skill="daily-report")
    seen = outlook(work, cost=Cost(12_345, 0.0512))
    seen = structs.replace(
        seen,
        job=replace(seen.job, origin=NOT_KNOWN, scripts=("daily-report", "chart")),
        quiet=QuietHours(21 * 60, 9 * 60 + 30),
    )

    assert preview(seen).markdown == (
        "**Shall I set this up?** (Report)\n\n"
        "> What is new?\n"
        "> \\# Be ⟨U+003C⟩!channel\\> short\n\n"
        "- **With the skill:** daily-report\n"
        "- **When:** every weekday at 09:00 (Europe/Paris)\n"
        "- **Next:** Mon 23 Nov 09:00 · Tue 24 Nov 09:00 · Wed 25 Nov 09:00 · Thu 26 Nov 09:00 · Fri 27 Nov 09:00\n"
        "- Clocks change on Sun 28 Mar 2027: 09:00 stays 09:00.\n"
        "- **Quiet hours** here are 21:00–09:30: it waits until they are over.\n"
        "- **If I am not running then:** it comes once, up to 2 h late; after that I skip it and say so.\n"
        "- **Cost:** about 0.05 USD each time, a first guess.\n"
        "- **Runs without asking you:** the scripts of the skills `daily-report`, `chart`. Confirming allows them.\n"
        "- This conversation contains text from an unknown source, which may have prompted this."
    )
    assert preview(seen).buttons == (
        (
            Button(label="Confirm", action="/cron confirm abc123", style="primary", says="yes"),
            Button(label="Change", action="/cron change abc123"),
            Button(label="Cancel", action="/cron cancel abc123", style="quiet", says="no"),
        ),
        (Button(label="Try it once", action="/cron test abc123"),),
    )


def test_in_chinese_it_reads_as_well() -> None:
    work = Report(instructions="有什么新内容？", skill="daily-report")
    seen = outlook(work, cost=Cost(12_345, None, 3))
    seen = structs.replace(
        seen,
        job=replace(seen.job, language="zh", scripts=("chart",)),
        quiet=QuietHours(21 * 60, 9 * 60 + 30),
    )

    assert preview(seen).markdown == (
        "**要这样设置吗？**（报告）\n\n"
        "> 有什么新内容？\n\n"
        "- **使用技能**：daily-report\n"
        "- **时间**：每个工作日 09:00（Europe/Paris）\n"
        "- **接下来**：11月23日 周一 09:00 · 11月24日 周二 09:00 · 11月25日 周三 09:00 · 11月26日 周四 09:00 · "
        "11月27日 周五 09:00\n"
        "- 2027年3月28日 周日 时钟调整：09:00 仍是 09:00。\n"
        "- **免打扰时段**为 21:00–09:30：会等到时段结束后再发。\n"
        "- **如果届时我没有运行**：最多迟 2 小时补一次；再晚就跳过并告诉您。\n"
        "- **费用**：每次约 12,345 词元（最近 3 次的平均）。\n"
        "- **无需再询问即可运行**：技能 `chart` 的脚本。确认即表示同意。"
    )


@pytest.mark.parametrize(
    ("words", "quoted"),
    [
        ("- one\n+ two\n1. three\n2) four", "> \\- one\n> \\+ two\n> 1\\. three\n> 2\\) four"),
        ("# no heading", "> \\# no heading"),
        ("at 9.30 -- #now", "> at 9.30 -- #now"),
    ],
)
def test_the_words_are_read_as_they_are(words: str, quoted: str) -> None:
    assert preview(outlook(words)).markdown.split("\n\n")[1] == quoted


def test_a_reminder_comes_also_in_quiet_hours_and_costs_nothing() -> None:
    seen = structs.replace(outlook(), quiet=QuietHours(21 * 60, 9 * 60 + 30))

    assert "**Quiet hours** here are 21:00–09:30; a reminder comes all the same." in facts(seen)
    assert "**Cost:** nothing, no model is asked." in facts(seen)


def test_a_time_that_a_change_of_clocks_leaves_out_is_told() -> None:
    assert any("02:30" in fact and "03:00" in fact for fact in facts(outlook(rule=Cron(expression="30 2 * * *"))))


def test_what_comes_once_has_no_list_of_times() -> None:
    assert facts(outlook(rule=Once(at=moment("2026-12-24 18:00")))) == [
        "**When:** on Thu 24 Dec 2026 at 18:00 (Europe/Paris)",
        "**If I am not running then:** it comes as soon as I am back.",
        "**Cost:** nothing, no model is asked.",
    ]


def test_lengths_of_time_know_no_clocks() -> None:
    assert not any("Clocks" in fact for fact in facts(outlook(rule=Every(seconds=7200, since=NOW))))


def test_the_panel_offers_what_would_be_otherwise() -> None:
    buttons = change_panel(outlook()).buttons

    assert [[button.action for button in row] for row in buttons] == [
        ["/cron reshape abc123 earlier", "/cron reshape abc123 later"],
        ["/cron reshape abc123 daily"],
        ["/cron confirm abc123", "/cron cancel abc123"],
    ]


@pytest.mark.parametrize(
    ("rule", "way", "then"),
    [
        (WEEKDAYS, Reshaping.EARLIER, Cron(expression="0 8 * * 1-5")),
        (WEEKDAYS, Reshaping.DAILY, Cron(expression="0 9 * * *")),
        (Cron(expression="0 9 * * *"), Reshaping.WEEKDAYS, WEEKDAYS),
        (Cron(expression="0 23 * * *"), Reshaping.LATER, None),
        (Cron(expression="0 0 * * *"), Reshaping.EARLIER, None),
        (Cron(expression="0 */2 * * *"), Reshaping.LATER, None),
        (Cron(expression="0 9 1 * *"), Reshaping.DAILY, None),
        (Once(at=7_200), Reshaping.LATER, Once(at=10_800)),
        (Once(at=7_200), Reshaping.DAILY, None),
        (Every(seconds=60, since=0), Reshaping.EARLIER, None),
    ],
)
def test_a_rule_is_put_otherwise_where_that_means_something(rule: Rule, way: Reshaping, then: Rule | None) -> None:
    assert meaning(reshaped(rule, way)) == meaning(then)
    assert (way in reshapings(rule)) == (then is not None)


def test_what_is_left_of_the_question() -> None:
    job = a_job("stretch", WEEKDAYS)

    assert set_line(job, NOW, is_change=False).startswith("✓ Set (`abc123`): every weekday at 09:00. Next: Mon 23 Nov")
    assert set_line(job, NOW, is_change=True).startswith("✓ Changed (`abc123`): every weekday at 09:00.")
    assert cancelled_line(replace(job, language="zh")) == "✗ 未设置：stretch"


# Costs


def paid(number: int, tokens: int, usd: float, state: FiringState = FiringState.DONE) -> Firing:
    return Firing(
        "abc123", f"s{number}", f"f{number}", ANN, due=0.0, state=state, tokens=tokens, cost_usd=usd, origin=CLEAN
    )


def report() -> Job:
    return a_job(Report(instructions="What is new?"))


def costs(model: ModelInfo, tools: Sequence[Tool] = ()) -> Costs:
    async def model_for(chat: ChatKey, person: str) -> ModelInfo:
        return model

    return Costs(model_for, tools)


async def test_the_cost_is_the_mean_of_the_last_five_that_asked_a_model() -> None:
    past = [
        paid(9, 9_999, 9.0, FiringState.FAILED),
        paid(8, 0, 0.0, FiringState.MISSED),
        paid(7, 1_000, 0.01),
        paid(6, 3_000, 0.03, FiringState.NOTHING),
        *(paid(number, 2_000, 0.02) for number in (5, 4, 3)),
        paid(2, 10**6, 10.0),
    ]

    assert await costs(SCRIPTED_MODEL).expected(report(), past, 0) == Cost(2_000, 0.02, 5)


async def test_before_the_first_time_it_is_a_guess_from_the_model_s_prices() -> None:
    dear = ModelInfo(id="dear", input_price=3.0, output_price=15.0)

    @tool()
    async def look(around: str = "Look around. " * 100) -> str:
        """Looks around."""
        return around

    cheap = await costs(dear).expected(report(), [], 0)
    usual = await costs(dear, [look]).expected(report(), [], 2_000)

    assert cheap is not None
    assert usual is not None
    assert cheap.usd is not None
    assert usual.usd is not None
    assert 0.02 < cheap.usd < usual.usd < 0.2
    assert cheap.tokens < usual.tokens


@pytest.mark.parametrize("prices", [{}, {"input_price": 0.0, "output_price": 0.0}])
async def test_where_nobody_knows_a_price_the_tokens_are_told(prices: dict[str, float]) -> None:
    cost = await costs(ModelInfo(id="own", **prices)).expected(report(), [], 0)

    assert cost is not None
    assert cost.usd is None
    assert cost.words("en").endswith("00 tokens")


async def test_what_asks_no_model_costs_nothing() -> None:
    assert await costs(SCRIPTED_MODEL).expected(a_job("stretch"), [], 0) is None


@pytest.mark.parametrize(
    ("usd", "said"), [(1.5, "1.50 USD"), (0.1, "0.10 USD"), (0.0042, "0.0042 USD"), (0.000001, "0.0001 USD")]
)
def test_money_is_said_so_that_it_can_be_read(usd: float, said: str) -> None:
    assert Cost(1, usd).words("en") == said


@pytest.mark.parametrize(("seconds", "said"), [(7200, "2 h"), (5400, "1.5 h"), (1800, "30 min"), (30, "0.5 min")])
def test_lengths_of_time_are_said_in_what_fits(seconds: float, said: str) -> None:
    assert duration(seconds, "en") == said


# Programs


def test_a_yes_covers_the_scripts_of_the_skill_and_of_those_that_it_names(tmp_path: Path) -> None:
    for name, body in (("digest", "Use the skill `chart`, not that other."), ("chart", "Draw."), ("other", "Else.")):
        write_skill(tmp_path, name, body=body)
        (tmp_path / name / "scripts").mkdir()
        (tmp_path / name / "scripts" / f"{name}.py").write_text("print()")
    write_skill(tmp_path, "plain", body="Only words.")
    library = SkillLibrary([(tmp_path, Origin.OWNER)], environ={})

    use = skill_use(library, "digest")
    assert use.scripts == ("digest", "chart")
    assert use.tokens > 0
    assert skill_use(library, "plain").scripts == ()
    assert skill_use(library, "gone").scripts == ()
    assert skill_use(library, None).scripts == ()


# Quiet hours


@pytest.mark.parametrize(
    ("quiet", "rule", "warned"),
    [
        ((21 * 60, 10 * 60), WEEKDAYS, True),
        ((21 * 60, 8 * 60), WEEKDAYS, False),
        ((21 * 60, 8 * 60), Every(seconds=6 * 3600, since=NOW), True),
        ((None, None), WEEKDAYS, False),
    ],
)
def test_quiet_hours_matter_where_one_of_the_next_times_falls_into_them(
    quiet: tuple[int | None, int | None], rule: Rule, *, warned: bool
) -> None:
    job = a_job("stretch", rule)
    heartbeat = Heartbeat(ANN, "ann", "x", quiet_from=quiet[0], quiet_to=quiet[1])

    assert bool(quiet_hours(heartbeat, job, next_slots(job, NOW))) is warned
    assert quiet_hours(None, job, next_slots(job, NOW)) is None
