"""The screen of approvals, questions and strangers."""

from pathlib import Path

from agent_core.models.scripted import calls
from channels.memory import user
from gateway.permissions.workspaces import workspace_of
from tests.gateway.admin.desk import AdminWorld, admin_world
from tests.gateway.admin.test_pages import act
from tests.gateway.approving import asked, asked_by_model, questions, recorder
from tests.gateway.test_always_here import TIDY, programs

XSS = "<img src=x onerror=alert(1)>"
RUN_XSS = calls(("run", {"command": ["echo", XSS]}))


async def inbox(world: AdminWorld, language: str = "en") -> str:
    async with world.client() as client, client.get("/admin/inbox", headers={"Accept-Language": language}) as page:
        assert page.status == 200
        return await page.text()


async def test_an_approval_is_shown_with_its_reasons_and_answered_in_its_chat(tmp_path: Path) -> None:
    tool, ran = recorder()
    async with admin_world(tmp_path, RUN_XSS, "Done!", tools=(tool,)) as world:
        request = await asked(world.bot, sender=user("bob"))
        page = await inbox(world)
        assert request in page
        assert "echo &#39;&lt;img src=x onerror=alert(1)&gt;&#39;" in page
        assert XSS not in page
        assert "It runs a program." in page
        assert "user.exec" in page
        assert "memory:bob" in page
        assert "expires" in page
        async with world.client() as client:
            assert "Done." in await act(client, f"/approve {request}", chat=str(world.bot.channel.chat("bob")))
        await world.bot.app.settled()
        assert ran == [["echo", XSS]]
        assert "Nothing waits for you" in await inbox(world)


async def test_a_denied_call_is_not_made(tmp_path: Path) -> None:
    tool, ran = recorder()
    async with admin_world(tmp_path, RUN_XSS, "As you like.", tools=(tool,)) as world, world.client() as client:
        request = await asked(world.bot, sender=user("bob"))
        await act(client, f"/deny {request}", chat=str(world.bot.channel.chat("bob")))
        await world.bot.app.settled()
        assert ran == []
        assert "As you like." in world.bot.screen[-1]


async def test_always_says_what_it_covers_and_makes_a_rule(tmp_path: Path) -> None:
    tool, ran = programs()
    async with admin_world(tmp_path, TIDY, "One.", TIDY, "Two.", tools=(tool,)) as world, world.client() as client:
        chat = world.bot.channel.chat("bob")
        workspace = workspace_of(world.bot.home, chat)
        workspace.mkdir(parents=True)
        tool.where["workspace"] = workspace  # type: ignore[attr-defined]
        (workspace / "tidy.sh").write_text("echo tidy")
        request = await asked(world.bot, sender=user("bob"))
        page = await inbox(world)
        assert "allows exactly this command" in page
        assert f'value="/approve {request} always"' in page
        await act(client, f"/approve {request} always", chat=str(chat))
        await world.bot.app.settled()
        await world.bot.hears("again", sender="bob")
        assert ran == ["echo tidy"] * 2
        assert questions(world.bot) == []


async def test_a_question_of_the_model_is_answered_in_own_words(tmp_path: Path) -> None:
    asks = calls(("ask_user", {"question": f"Tea or {XSS}?", "choices": ["Tea", "Coffee"]}))
    async with admin_world(tmp_path, asks, "Good choice.") as world, world.client() as client:
        await world.bot.channel.hears("A drink", sender=user("bob"))
        await asked_by_model(world.bot, "bob")
        page = await inbox(world)
        assert "Tea or &lt;img src=x onerror=alert(1)&gt;?" in page
        (question,) = await world.bot.made.base.store.approvals.pending()
        await act(client, f"/answer {question.id}", "neither, thanks", chat=str(question.chat))
        await world.bot.app.settled()
        assert "neither, thanks" in str(world.bot.llm.requests[-1])
        assert "Good choice." in world.bot.screen[-1]


async def test_strangers_wait_beside_the_questions(tmp_path: Path) -> None:
    async with admin_world(tmp_path, "Hi Zoe") as world:
        await world.bot.hears(f"I am {XSS}", sender="zoe")
        page = await inbox(world)
        assert "I am &lt;img src=x onerror=alert(1)&gt;" in page
        assert 'data-badge="inbox"><b>1</b>' in page


async def test_the_feed_counts_and_names_no_words(tmp_path: Path) -> None:
    tool, _ = recorder()
    async with admin_world(tmp_path, RUN_XSS, "Done!", tools=(tool,)) as world, world.client() as client:
        async with client.get("/admin/api/inbox") as answer:
            before = await answer.json()
        assert before["count"] == 0
        assert before["items"] == []
        request = await asked(world.bot, sender=user("bob"))
        async with client.get("/admin/api/inbox") as answer:
            text = await answer.text()
            after = await answer.json()
        assert after["count"] == 1
        assert [(each["id"], each["kind"], each["is_elsewhere"]) for each in after["items"]] == [
            (request, "approval", True)
        ]
        assert after["version"] != before["version"]
        assert "echo" not in text
        async with client.get("/admin/api/nothing") as missing:
            assert missing.status == 404


async def test_an_admin_answers_for_members_but_reads_no_question_of_others(tmp_path: Path) -> None:
    tool, _ = recorder()
    asks = calls(("ask_user", {"question": "Which secret colour?", "choices": []}))
    async with admin_world(tmp_path, RUN_XSS, asks, "Done!", tools=(tool,)) as world:
        request = await asked(world.bot, sender=user("bob"))
        page = await world.seen_by_admin("inbox")
        assert "echo" in page
        assert f'value="/approve {request}"' in page
        async with world.client() as client:
            await act(client, f"/approve {request}", chat=str(world.bot.channel.chat("bob")))
        await asked_by_model(world.bot, "bob")
        page = await world.seen_by_admin("inbox")
        assert "secret colour" not in page
        assert "You may not read this" in page
        assert "secret colour" in await world.seen_by_admin("inbox", "memory:bob")


async def test_an_admin_does_not_read_or_answer_what_an_owner_is_asked(tmp_path: Path) -> None:
    tool, _ = recorder()
    async with admin_world(tmp_path, RUN_XSS, "Done!", tools=(tool,)) as world:
        request = await asked(world.bot, sender=user("ann"))
        page = await world.seen_by_admin("inbox")
        assert request in page
        assert "echo" not in page
        assert "/approve" not in page
