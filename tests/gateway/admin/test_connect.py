"""The screen that connects platforms: for owners only, and it takes no answer to another step."""

from pathlib import Path

from tests.gateway.admin.desk import admin_world


async def test_admins_see_what_is_set_up_and_cannot_begin(tmp_path: Path) -> None:
    async with admin_world(tmp_path) as world:
        seen = await world.seen_by_admin("connect")

    assert "Only owners can connect something." in seen
    assert "/admin/connect/telegram" not in seen


async def test_a_step_is_answered_once_and_leaving_forgets_the_guide(tmp_path: Path) -> None:
    async with admin_world(tmp_path) as world, world.client() as client:

        async def submits(**fields: str) -> str:
            async with client.post("/admin/form/connect/telegram", data=fields) as answer:
                assert answer.status == 200
            async with client.get("/admin/connect/telegram") as page:
                return await page.text()

        assert "The token from @BotFather" in await submits(do="begin")
        assert "looks like a token or key of Slack" in await submits(do="answer", number="1", field0="xoxb-1234-5678")
        assert "looks like a token or key of Slack" in await submits(do="answer", number="1", field0="hello")
        assert "The token from @BotFather" not in await submits(do="leave")
        async with client.post("/admin/form/connect/nowhere", data={"do": "begin"}) as answer:
            assert answer.status == 404
        async with client.post("/admin/form/people/x", data={"do": "begin"}) as answer:
            assert answer.status == 404


async def test_a_field_is_checked_when_it_is_left(tmp_path: Path) -> None:
    async with admin_world(tmp_path) as world, world.client() as client:

        async def checked(place: str, **fields: str) -> tuple[int, str]:
            async with client.post(f"/admin/check/{place}", data=fields) as answer:
                return answer.status, await answer.text()

        assert (await checked("connect/telegram", number="1", field="0", text="x"))[0] == 404, "no guide is open"
        async with client.post("/admin/form/connect/telegram", data={"do": "begin"}):
            pass
        assert "of Slack" in (await checked("connect/telegram", number="1", field="0", text="xoxb-1234-5678"))[1]
        assert '""' in (await checked("connect/telegram", number="1", field="0", text=" "))[1]
        assert (await checked("connect/telegram", number="0", field="0", text="x"))[0] == 404
        assert (await checked("connect/telegram", number="1", field="one", text="x"))[0] == 404
        assert (await checked("people/x", number="1", field="0", text="x"))[0] == 404
