"""The steps by which people make a bot for Parley on Telegram."""

from channels.checkup import Setup, Token

SETUP = Setup(
    title="Telegram",
    link="https://t.me/BotFather?text=/newbot",
    steps={
        "en": "Send @BotFather `/newbot`, then a name for your bot, then a username that ends in `bot`. "
        "It replies with a token.",
        "zh": "向 @BotFather 发送 `/newbot`，再发送机器人的名称，然后发送以 `bot` 结尾的用户名。它会回复一个令牌。",
    },
    tokens=(
        Token(
            "bot_token",
            {
                "en": "The token from @BotFather, such as `1234567890:AbC...`",
                "zh": "@BotFather 给出的令牌，例如 `1234567890:AbC...`",
            },
        ),
    ),
    hello={
        "en": "Open the link and press Start, or write hello to {name}.",
        "zh": "打开链接，点击“开始”，或给 {name} 发送一句“你好”。",
    },
)
