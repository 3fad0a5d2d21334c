"""A report is posted in another chat that agreed, with a table, and comes back where it does not arrive."""

from dataclasses import replace

from agent_core.messages import JsonObject, NotificationMessage
from agent_core.models.scripted import calls
from channels.base import ChannelError, ChatKey
from channels.memory import NO_PACE, MemoryChannel, user
from gateway.permissions.roles import People
from gateway.store.job import JobState
from gateway.store.job_targets import TargetState
from tests.gateway.jobs.asking import labels, press, typed_ids
from tests.gateway.jobs.conftest import StartTimedBot
from tests.gateway.jobs.kit import ANN, TEAM, TimedBot, seen
from tests.gateway.jobs.speaking import contents
from tests.gateway.jobs.test_reports import draw
from tests.gateway.tasking import rows

TABLE = "**Open work**\n\n| what | days |\n| --- | --- |\n| roof | 3 |"
WISH = "/report every monday 9:00 list what is late in open.md to #team"
GONE = ChannelError("channel_not_found", permanent=True)


async def known_in_team(bot: TimedBot, *people: str) -> None:
    """Let people talk to the bot in the group, so that it knows them there."""
    for person in people or ("ann", "bob"):
        await bot.hears("hello", sender=person, group="team")


async def wished(start_bot: StartTimedBot, *answers: object, text: str = WISH, **how: object) -> TimedBot:
    """A bot on which ann has confirmed a report for the group; it answers two greetings there first."""
    bot = await start_bot("Hi.", "Hi.", *answers, new_request_id=typed_ids(), **how)
    await known_in_team(bot)
    await bot.hears(text)
    await press(bot, "Confirm")
    return bot


def of(bot: TimedBot, chat: ChatKey) -> str:
    return bot.channel.screen_of(chat)[-1]


async def state(bot: TimedBot, job: str = "ab0001") -> list[TargetState]:
    return [each.state for each in await bot.store.job_targets.of(job)]


async def pressed(bot: TimedBot, label: str, *, by: str = "bob") -> None:
    await bot.channel.presses(label, sender=by)
    await bot.settled()


async def test_mondays_report_with_a_table_comes_in_the_other_chat(start_bot: StartTimedBot) -> None:
    bot = await start_bot("Hi.", "Hi.", TABLE, new_request_id=typed_ids())
    await known_in_team(bot)
    await bot.hears(WISH)
    assert "> list what is late in open.md\n" in of(bot, ANN)
    assert "- **Posted in:** #team on Memory (asked there first, with these words" in of(bot, ANN)

    await press(bot, "Confirm")
    assert of(bot, TEAM).startswith("**Ann would like a report to be posted here:**\n\n> list what is late in open.md")
    assert "**Posted in:** #team on Memory (asked, no answer yet)" in of(bot, ANN)

    await pressed(bot, "Allow")
    agreed = "✓ Bob agreed: the report `ab0001` is posted here from now on, every Monday at 09:00"
    assert of(bot, TEAM).startswith(agreed)
    assert of(bot, ANN) == "✓ #team on Memory: Bob agreed. The report `ab0001` is posted there from now on."
    await bot.hears("/cron")
    assert "\n  - **Posted in:** #team on Memory" in of(bot, ANN)
    before = bot.channel.screen_of(ANN)

    bot.at("2026-11-30 09:00")
    await bot.look()
    report = of(bot, TEAM)
    assert report.startswith(TABLE)
    assert report.endswith("_A report of Ann from another chat. `/cron stop ab0001` ends it here._")
    assert labels(bot) == [["Stop this here"]]
    assert bot.channel.screen_of(ANN) == before


async def test_until_the_other_chat_agrees_the_report_comes_here(start_bot: StartTimedBot) -> None:
    bot = await wished(start_bot, TABLE)
    bot.at("2026-11-30 09:00")
    await bot.look()

    assert of(bot, ANN).startswith("**Open work**")
    assert of(bot, TEAM).startswith("**Ann would like")


async def test_a_refusal_is_told_to_the_author_and_can_be_taken_back(start_bot: StartTimedBot) -> None:
    bot = await wished(start_bot, TABLE)
    await pressed(bot, "No")
    assert of(bot, TEAM) == "Bob said no: the report `ab0001` is not posted here."
    assert of(bot, ANN) == "#team on Memory: Bob said no. The report `ab0001` comes here."
    assert await state(bot) == [TargetState.REFUSED]

    await pressed(bot, "Allow again")
    assert await state(bot) == [TargetState.OPEN]
    assert of(bot, ANN).startswith("✓ #team on Memory: Bob agreed.")


async def test_the_other_chat_ends_it_with_a_command_or_the_button_below_a_report(start_bot: StartTimedBot) -> None:
    bot = await wished(start_bot, TABLE, TABLE)
    await pressed(bot, "Allow")
    bot.at("2026-11-30 09:00")
    await bot.look()
    await pressed(bot, "Stop this here")
    assert bot.channel.screen_of(TEAM)[-2].startswith(TABLE)
    assert of(bot, TEAM) == "The report `ab0001` is not posted here any more."
    assert of(bot, ANN) == "#team on Memory: Bob ended the report `ab0001` there. It comes here from now on."

    bot.at("2026-12-07 09:00")
    await bot.look()
    assert of(bot, ANN).startswith("**Open work**")

    await bot.hears("/cron allow ab0001", sender="bob", group="team")
    await bot.hears("/cron stop ab0001", sender="bob", group="team")
    assert await state(bot) == [TargetState.REFUSED]
    assert (await bot.job("ab0001")).state is JobState.ACTIVE


async def test_a_chat_that_is_gone_when_its_report_comes_lets_it_come_back_with_the_reason(
    start_bot: StartTimedBot,
) -> None:
    bot = await wished(start_bot, TABLE, TABLE)
    await pressed(bot, "Allow")
    bot.channel.fails("send", GONE)
    bot.at("2026-11-30 09:00")
    await bot.look()
    assert of(bot, ANN) == f"{TABLE}\n\n_This did not arrive in #team on Memory: channel\\_not\\_found._"
    assert await state(bot) == [TargetState.GONE]
    assert (await bot.job("ab0001")).pause is None

    bot.at("2026-12-07 09:00")
    await bot.look()
    assert of(bot, ANN).startswith("**Open work**")
    assert len([each for each in bot.screen if "did not arrive" in each]) == 1


async def test_a_chat_that_is_gone_when_it_is_asked_is_told_to_the_author(start_bot: StartTimedBot) -> None:
    bot = await start_bot("Hi.", "Hi.", new_request_id=typed_ids())
    await known_in_team(bot)
    await bot.hears(WISH)
    bot.channel.fails("send", GONE)
    await press(bot, "Confirm")
    told = "#team on Memory takes no messages from me (channel\\_not\\_found), so the report `ab0001` comes here."
    assert of(bot, ANN) == told


async def test_only_chats_in_which_the_author_has_talked_are_found(start_bot: StartTimedBot) -> None:
    bot = await start_bot("Hi.", new_request_id=typed_ids())
    await bot.hears("hello", sender="bob", group="team")
    await bot.hears(WISH)
    assert of(bot, ANN).startswith("I know no chat #team in which you have talked to me.")
    assert await bot.store.jobs.in_chat(ANN) == []


async def test_who_may_have_no_jobs_there_any_more_gets_the_report_at_home_and_is_told_once(
    start_bot: StartTimedBot,
) -> None:
    bot = await wished(start_bot, TABLE, TABLE, beside=[MemoryChannel(name="phone")])
    await pressed(bot, "Allow")
    found = (await bot.store.job_targets.of("ab0001"))[0]
    phone = ChatKey(platform="phone", account="here", chat="#team")  # ann has no account there any more
    await bot.store.job_targets.change(found.id, lambda target: replace(target, chat=phone))
    for monday in ("2026-11-30 09:00", "2026-12-07 09:00"):
        bot.at(monday)
        await bot.look()
        assert of(bot, ANN).startswith("**Open work**")
    told = [each for each in bot.channel.screen_of(ANN) if each.startswith("You may not have jobs in #team on Phone")]
    assert len(told) == 1


async def test_what_comes_there_is_untrusted_and_the_agent_there_knows_it(start_bot: StartTimedBot) -> None:
    bot = await wished(start_bot, TABLE, "It is the roof.")
    await pressed(bot, "Allow")
    bot.at("2026-11-30 09:00")
    await bot.look()
    await bot.hears("which one?", sender="bob", group="team")

    assert "a scheduled report (ab0001)" in seen(bot.llm.requests[-1])
    history = await bot.store.transcript.history((await bot.store.chats.get(TEAM)).session)
    notes = [each for each in history if isinstance(each, NotificationMessage)]
    assert [("roof" in note.quoted, note.origin.sources) for note in notes] == [(True, ("sent:Ann:report ab0001",))]


async def test_a_run_by_hand_goes_there_and_a_rehearsal_does_not(start_bot: StartTimedBot) -> None:
    bot = await wished(start_bot, TABLE, "By hand.")
    await pressed(bot, "Allow")
    await bot.hears("/cron test ab0001")
    await bot.settled()
    assert TABLE in of(bot, ANN)
    assert not any(TABLE in each for each in bot.channel.screen_of(TEAM))

    await bot.hears("/cron run ab0001")
    await bot.settled()
    assert "By hand." in of(bot, TEAM)


async def test_here_and_there_are_two_places(start_bot: StartTimedBot) -> None:
    bot = await wished(start_bot, TABLE, text=WISH.replace("#team", "#team and here"))
    await pressed(bot, "Allow")
    bot.at("2026-11-30 09:00")
    await bot.look()
    assert of(bot, TEAM).startswith(TABLE)
    assert of(bot, ANN).startswith(TABLE)


async def test_a_changed_report_is_asked_again_and_an_unchanged_one_is_not(start_bot: StartTimedBot) -> None:
    bot = await wished(start_bot)
    await pressed(bot, "Allow")
    await bot.hears("/cron change ab0001 every monday 9:00")
    await press(bot, "Confirm")
    assert await state(bot) == [TargetState.OPEN]

    await bot.hears("/cron change ab0001 every 5 minutes tell a joke")
    await press(bot, "Confirm")
    assert await state(bot) == [TargetState.ASKED]
    assert "> tell a joke" in of(bot, TEAM)


async def changed(bot: TimedBot, text: str) -> None:
    await bot.hears(f"/cron change ab0001 {text}")
    await press(bot, "Confirm")


async def test_a_yes_below_the_words_of_before_shows_those_of_now_instead(start_bot: StartTimedBot) -> None:
    bot = await wished(start_bot)
    old = bot.channel.posts[-1][1].buttons[0][0].action
    await changed(bot, "every 5 minutes tell a joke")
    await bot.hears(old, sender="bob", group="team")
    assert await state(bot) == [TargetState.ASKED]
    assert "> tell a joke" in of(bot, TEAM)
    await pressed(bot, "Allow")
    assert await state(bot) == [TargetState.OPEN]


async def test_a_chat_that_refused_or_has_not_answered_is_not_asked_again_for_other_words(
    start_bot: StartTimedBot,
) -> None:
    bot = await wished(start_bot)
    asked = [each for each in bot.channel.screen_of(TEAM) if "would like a report" in each]
    for words in ("tell a joke", "tell another joke"):
        await changed(bot, f"every monday 9:00 {words}")
    assert [each for each in bot.channel.screen_of(TEAM) if "would like a report" in each] == asked
    await bot.hears("/cron refuse ab0001", sender="bob", group="team")
    await changed(bot, "every monday 9:00 tell a third joke")
    assert await state(bot) == [TargetState.REFUSED]


async def test_a_kill_between_the_steps_of_a_change_carries_no_agreement_to_other_words(
    start_bot: StartTimedBot,
) -> None:
    bot = await wished(start_bot)
    await pressed(bot, "Allow")
    await bot.hears("/cron change ab0001 every monday 9:00 tell a joke")
    draft = next(each for each in await bot.store.jobs.planned(ANN) if each.state is JobState.DRAFT)

    await bot.store.jobs.take_over(draft.id, "ab0001", lambda job: replace(job, work=draft.work))
    assert (await bot.job("ab0001")).words == "tell a joke"
    assert await state(bot) == [TargetState.WANTED]
    assert (await bot.job(draft.id)).state is JobState.DONE


async def test_a_chat_is_asked_five_times_a_day_at_most_however_fast_jobs_are_removed(
    start_bot: StartTimedBot,
) -> None:
    bot = await start_bot("Hi.", "Hi.", new_request_id=typed_ids())
    await known_in_team(bot)
    for _ in range(6):
        await bot.hears(WISH)
        await press(bot, "Confirm")
        for job in await bot.store.jobs.in_chat(ANN):
            if job.state is JobState.ACTIVE:
                await bot.hears(f"/cron rm {job.id}")
    asked = [each for each in bot.channel.screen_of(TEAM) if "would like a report" in each]
    assert len(asked) == 5
    assert of(bot, ANN).startswith("#team on Memory has several such questions open.")

    bot.at("2026-12-30 09:00")
    await bot.hears(WISH)
    await press(bot, "Confirm")
    assert len([each for each in bot.channel.screen_of(TEAM) if "would like a report" in each]) == 6


async def test_a_table_and_files_go_with_it(start_bot: StartTimedBot) -> None:
    bot = await wished(start_bot, calls(("draw", {})), calls(("send_file", {"path": "chart.txt"})), TABLE, tools=[draw])
    await pressed(bot, "Allow")
    bot.at("2026-11-30 09:00")
    await bot.look()
    (message,) = [each for posted, each in bot.channel.posts if each.markdown.startswith(TABLE)]
    assert [each.name for each in message.attachments] == ["chart.txt"]


async def test_in_the_quiet_hours_of_the_other_chat_it_waits(start_bot: StartTimedBot) -> None:
    bot = await wished(start_bot, TABLE)
    await pressed(bot, "Allow")
    await bot.hears("/heartbeat quiet 8-10", group="team")
    bot.at("2026-11-30 09:00")
    await bot.look()
    assert not any(TABLE in each for each in bot.screen)
    bot.at("2026-11-30 10:01")
    await bot.look()
    assert of(bot, TEAM).startswith(TABLE)
    assert labels(bot) == [["Stop this here"]]


async def test_the_report_of_one_platform_comes_on_another_where_its_author_has_a_linked_account(
    start_bot: StartTimedBot,
) -> None:
    phone = MemoryChannel(name="phone", limits=NO_PACE)
    people = People(frozenset({"memory:ann"}), frozenset({"phone:b7"}))
    bot = await start_bot("Hi.", TABLE, beside=[phone], people=people, new_request_id=typed_ids())
    await bot.hears("/link")
    await phone.hears(f"/link {bot.screen[-1].partition('/link ')[2][:8]}", sender=user("b7"))
    await bot.settled()
    await phone.presses("Yes, link it", sender="b7")
    await bot.settled()
    await phone.hears("hello", sender=user("b7"), group="team")
    await bot.settled()

    await bot.hears("/report every monday 9:00 what is late to #team on Phone and me on phone")
    await press(bot, "Confirm")
    assert phone.screen_of(phone.chat("b7", group="team"))[-1].startswith("**Ann would like a report")
    await phone.presses("Allow", sender="b7")
    await bot.settled()
    bot.at("2026-11-30 09:00")
    await bot.look()
    assert phone.screen_of(phone.chat("b7", group="team"))[-1].startswith(TABLE)
    assert phone.screen_of(phone.chat("b7"))[-1].startswith(TABLE)
    assert bot.made.people.access.whose(phone.chat("b7")) == "phone:b7"


async def test_names_of_chats_are_found_at_the_end_and_in_the_middle_of_a_text(start_bot: StartTimedBot) -> None:
    bot = await start_bot(*["Hi."] * 4, new_request_id=typed_ids())
    for group in ("team", "team-two", "产品 讨论"):
        await bot.hears("hello", group=group)
    for text, chats, rest in (
        ("notes to #team every monday 9:00", ["#team"], "notes every monday 9:00"),
        ("notes to #team-two, #team and here", ["#team-two", "#team", "ann"], "notes"),
        ("每周一9点 汇总进度发到#产品 讨论", ["#产品 讨论"], "每周一9点 汇总进度"),
        ("every day 9:00 what was said in #team", [], "every day 9:00 what was said in #team"),
        ("every day 9:00 mails to Bob", [], "every day 9:00 mails to Bob"),
        ("what Bob wrote to me on Slack", [], "what Bob wrote to me on Slack"),
    ):
        wish = await bot.made.jobs.destinations.read(text, ANN, user("ann"), "en")
        assert ([each.chat for each in wish.chats], wish.rest) == (chats, rest)


async def test_in_chinese(start_bot: StartTimedBot) -> None:
    bot = await start_bot("Hi.", "Hi.", new_request_id=typed_ids())
    await known_in_team(bot)
    await bot.hears("/language zh")
    await bot.hears("/report 每周一9点 汇总进度 发到 #team")
    assert "- **发布到**：Memory 的 #team（会先在那里用这段文字征求同意；同意之前发到这里）" in of(bot, ANN)
    await press(bot, "确认")
    assert of(bot, TEAM).startswith("**Ann 希望把一份报告发到这里：**")


async def test_forgetting_the_author_leaves_no_trace_of_the_wish(start_bot: StartTimedBot) -> None:
    bot = await wished(start_bot, TABLE)
    await pressed(bot, "Allow")
    bot.at("2026-11-30 09:00")
    await bot.look()
    await bot.hears("/forget me")
    await press(bot, bot.channel.posts[-1][1].buttons[0][0].label)
    await bot.settled()
    assert await state(bot) == []
    assert rows(bot.home, "SELECT count(*) FROM firings") == [(0,)]
    posted = rows(bot.home, "SELECT body FROM outbox")
    assert not any("open.md" in str(each) or "roof" in str(each) for each in posted)


async def test_a_report_comes_as_a_file_below_its_title(start_bot: StartTimedBot) -> None:
    bot = await wished(start_bot, TABLE, text=WISH.replace("open.md", "open.md as a file") + ", here")
    assert (await bot.job("ab0001")).words == "list what is late in open.md"
    await pressed(bot, "Allow")
    bot.at("2026-11-30 09:00")
    await bot.look()
    for chat in (ANN, TEAM):
        shown = [each for posted, each in bot.channel.posts if posted.chat == chat][-1]
        assert shown.markdown.splitlines()[0] == "**Open work**"
        assert "roof" not in shown.markdown
        assert [each.name for each in shown.attachments] == ["report-2026-11-30.md"]
        assert contents(shown.attachments) == [TABLE]


async def test_the_model_proposes_a_report_for_another_chat_in_the_words_of_the_person(
    start_bot: StartTimedBot,
) -> None:
    asked: JsonObject = {"kind": "report", "what": "list what is late to #team", "when": "every monday 9:00"}
    bot = await start_bot("Hi.", "Hi.", calls(("schedule", asked)), "It is there.", new_request_id=typed_ids())
    await known_in_team(bot)
    await bot.hears("every monday at nine list what is late to #team")
    (shown,) = [each for each in bot.channel.screen_of(ANN) if "Shall I set this up" in each]
    assert "> list what is late\n" in shown
    assert "- **Posted in:** #team on Memory" in shown
