"""Table of REST calls: their names for faults and counts, paths, rate limits and implementations."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from parley.testing.emulators.discord_interactions import InteractionApi
from parley.testing.emulators.discord_rest import Answer, Asked, RestApi

FIVE_IN_FIVE = (5, 5.0)
ONE_REACTION = (1, 0.25)
_MESSAGES = "/channels/{channel}/messages"
_ONE = _MESSAGES + "/{message}"
_ANSWER = "/webhooks/{application}/{token}/messages/{message}"
_COMMANDS = "/applications/{application}/commands"
_GUILD_COMMANDS = "/applications/{application}/guilds/{guild}/commands"


@dataclass(frozen=True)
class RestRoute:
    """A REST call. `limit` is calls and seconds, per channel or, for interactions, per token."""

    name: str
    path: str
    on_rest: Callable[[RestApi, Asked], Answer] | None = None
    on_interactions: Callable[[InteractionApi, Asked], Answer] | None = None
    limit: tuple[int, float] | None = None

    @property
    def verb(self) -> str:
        return self.name.partition(" ")[0]

    @property
    def authorized(self) -> bool:
        """True if it needs the bot's token; an interaction's token is part of the path."""
        return self.on_rest is not None

    def key(self, match: Mapping[str, str]) -> str | None:
        """Return the rate limit bucket, by Discord's major parameter, or None."""
        if not self.authorized and self.limit is None:
            return None
        return f"{self.name}:{match.get('channel', '')}{match.get('token', '')}"


ROUTES = [
    RestRoute("GET me", "/users/@me", RestApi.me),
    RestRoute("GET application", "/oauth2/applications/@me", RestApi.application),
    RestRoute("GET application", "/applications/@me", RestApi.application),
    RestRoute("GET gateway", "/gateway", RestApi.gateway),
    RestRoute("GET gateway", "/gateway/bot", RestApi.gateway_bot),
    RestRoute("PUT commands", _COMMANDS, RestApi.put_commands),
    RestRoute("GET commands", _COMMANDS, RestApi.get_commands),
    RestRoute("PUT commands", _GUILD_COMMANDS, RestApi.put_commands),
    RestRoute("GET commands", _GUILD_COMMANDS, RestApi.get_commands),
    RestRoute("POST message", _MESSAGES, RestApi.post_message, limit=FIVE_IN_FIVE),
    RestRoute("GET messages", _MESSAGES, RestApi.get_messages),
    RestRoute("GET message", _ONE, RestApi.get_message),
    RestRoute("PATCH message", _ONE, RestApi.patch_message, limit=FIVE_IN_FIVE),
    RestRoute("DELETE message", _ONE, RestApi.delete_message),
    RestRoute("POST thread", _ONE + "/threads", RestApi.post_thread),
    RestRoute("PUT reaction", _ONE + "/reactions/{emoji}/@me", RestApi.put_reaction, limit=ONE_REACTION),
    RestRoute("DELETE reaction", _ONE + "/reactions/{emoji}/@me", RestApi.delete_reaction, limit=ONE_REACTION),
    RestRoute("GET reactions", _ONE + "/reactions/{emoji}", RestApi.get_reactions),
    RestRoute("POST typing", "/channels/{channel}/typing", RestApi.typing, limit=FIVE_IN_FIVE),
    RestRoute("GET channel", "/channels/{channel}", RestApi.get_channel),
    RestRoute("PATCH channel", "/channels/{channel}", RestApi.patch_channel),
    RestRoute("GET guild", "/guilds/{guild}", RestApi.get_guild),
    RestRoute("GET member", "/guilds/{guild}/members/{user}", RestApi.get_member),
    RestRoute("POST dm", "/users/@me/channels", RestApi.open_direct),
    RestRoute(
        "POST interaction", "/interactions/{interaction}/{token}/callback", on_interactions=InteractionApi.callback
    ),
    RestRoute("GET answer", _ANSWER, on_interactions=InteractionApi.get_answer),
    RestRoute("PATCH answer", _ANSWER, on_interactions=InteractionApi.patch_answer, limit=FIVE_IN_FIVE),
    RestRoute("DELETE answer", _ANSWER, on_interactions=InteractionApi.delete_answer),
    RestRoute(
        "POST followup", "/webhooks/{application}/{token}", on_interactions=InteractionApi.follow_up, limit=FIVE_IN_FIVE
    ),
]
