"""The steps by which people make a bot for Parley on Discord."""

from channels.checkup import Setup, Token
from channels.discord.config import PORTAL

SETUP = Setup(
    title="Discord",
    link=PORTAL,
    steps={
        "en": "Choose *New Application* and give it a name. On its page *Bot* switch on *Message Content Intent* and "
        "save; then *Reset Token* gives the token.",
        "zh": "选择 *New Application* 并为它命名。在它的 *Bot* 页面打开 *Message Content Intent* 并保存，"
        "再点击 *Reset Token*，就会得到令牌。",
    },
    tokens=(
        Token(
            "bot_token",
            {
                "en": "The bot's token, from *Bot*, *Reset Token*: three parts with dots between them",
                "zh": "*Bot* 页面 *Reset Token* 给出的令牌，由点号隔开的三部分组成",
            },
        ),
    ),
    hello={
        "en": "Open the link to add {name} to a server of yours, then send {name} a direct message: hello.",
        "zh": "打开链接，把 {name} 加入您的一个服务器，然后私聊 {name} 发送“你好”。",
    },
)
