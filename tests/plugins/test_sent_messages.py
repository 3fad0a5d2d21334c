"""Plugins are told of each new message that has arrived, in the transaction that records it, and owe what follows."""

from collections.abc import Iterable, Mapping, Sequence

from structlog.testing import capture_logs

from agent_core.models.scripted import calls
from gateway.plugin import Core, Plugin
from gateway.runs.owed import Doer
from gateway.store.connection import Connection
from gateway.store.owed import Owed
from gateway.store.rows import Post
from tests.gateway.approving import acting
from tests.gateway.conftest import StartBot


class Follows(Plugin):
    """Notes each message, and owes something for it."""

    name = "follows"

    def __init__(self, core: Core) -> None:
        super().__init__(core)
        self.sent_keys: list[str] = []
        self.done: list[str] = []

    def sent(self, post: Post, tx: Connection) -> Iterable[Owed]:
        self.sent_keys.append(post.key)
        return [Owed("follow", post.key, post.chat, {"words": post.message.markdown})]

    def owed(self) -> Mapping[str, Doer]:
        return {"follow": self._follow}

    async def _follow(self, item: Owed) -> Sequence[Post]:
        self.done.append(str(item.data["words"]))
        return ()


class Stumbles(Follows):
    """Fails when it is told."""

    def sent(self, post: Post, tx: Connection) -> Iterable[Owed]:
        raise RuntimeError("no idea")


class Strays(Follows):
    """Owes something to another chat."""

    def sent(self, post: Post, tx: Connection) -> Iterable[Owed]:
        return [Owed("follow", post.key, post.chat.model_copy(update={"chat": "carl"}))]


async def test_what_is_owed_for_a_message_is_done_once_and_progress_is_not_told(start_bot: StartBot) -> None:
    look = calls(("run", {"command": ["cat", "sales.csv"]}))
    bot = await start_bot(look, "Here they are.", tools=(acting("read"),), plugins=(Follows,))

    await bot.hears("/status")
    await bot.hears("show me the sales", sender="bob")

    [plugin] = bot.made.plugins
    assert isinstance(plugin, Follows)
    assert not any(":progress:" in key for key in plugin.sent_keys)
    assert len(plugin.done) == len(plugin.sent_keys) >= 1
    assert await bot.made.base.store.owed.left() == []


async def test_one_that_fails_or_owes_to_another_chat_keeps_no_message_back(start_bot: StartBot) -> None:
    for kind in (Stumbles, Strays):
        bot = await start_bot("Hello.", plugins=(kind,))
        with capture_logs() as logs:
            await bot.hears("hi")
        assert bot.screen[-1] == "Hello."
        assert ("a plugin failed", "follows", "sent") in [
            (each["event"], each.get("plugin"), each.get("where")) for each in logs
        ]
        assert await bot.made.base.store.owed.left() == []
        await bot.stop()
