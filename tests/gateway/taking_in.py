"""Messages on their way into a run that goes on, for tests that have the model speak once the run has them."""

from tests.gateway.bot import Bot
from tests.process import until


async def taken_in(bot: Bot, count: int = 1, *, sender: str = "ann", group: str | None = None) -> None:
    """Wait until so many messages have reached the run of a chat, which tells the model of them in its next request.

    They are stored earlier, and one that comes when the run is over begins another run.
    """
    mail = bot.made.chats.sessions.of(bot.channel.chat(sender, group=group)).mail
    await until(lambda: sum(map(mail.is_given, mail)) == count)
