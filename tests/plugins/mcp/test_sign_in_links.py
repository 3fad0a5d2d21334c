"""The link with which people sign in stays one link, whatever address a sign-in server names."""

from markdown_it import MarkdownIt

from tests.emulators.sign_in_server import says, sign_in_server
from tests.gateway.conftest import StartBot
from tests.plugins.mcp.serving import local


async def test_an_address_that_would_end_the_link_does_not(start_bot: StartBot) -> None:
    bot = await start_bot(settings=local())
    async with sign_in_server() as garden:
        origin = garden.url.removesuffix("/mcp")
        garden.answers["/.well-known/oauth-authorization-server"] = says(
            issuer=origin,
            authorization_endpoint=f"{origin}/a) [Sign in at good.example](https://evil.example/",
            token_endpoint=f"{origin}/token",
            registration_endpoint=f"{origin}/register",
            response_types_supported=["code"],
            code_challenge_methods_supported=["S256"],
        )
        await bot.hears(f"/mcp add garden {garden.url}")

        await bot.hears("/mcp in garden")

    shown = [each for block in MarkdownIt().parse(bot.screen[-1]) for each in block.children or ()]
    [link] = [str(each.attrs["href"]) for each in shown if each.type == "link_open"]
    assert link.startswith(f"{origin}/a%29")
    assert "Sign in at good.example" not in "".join(each.content for each in shown)
