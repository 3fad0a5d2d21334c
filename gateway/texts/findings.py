"""The findings of `parley doctor`, of the platforms' checks and of fetches in Chinese. They are made in English.

Those of plugins are brought by them.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from string import Formatter

from agent_core.late_pattern import LatePattern
from gateway.texts.say import Language, wrong_with_text

_PURPOSES: Mapping[str, str] = {
    "app_mentions:read": "接收频道中的提及",
    "assistant:write": "在 Slack 的助手面板中建议开场问题",
    "channels:history": "接收所在频道的消息，并读取提及之前的消息",
    "channels:read": "得知谁已离开频道",
    "chat:write": "回答、修改进度消息、显示正在思考",
    "commands": "提供 /parley 以及消息菜单中的“询问 Parley”",
    "files:read": "读取用户发送的文件",
    "files:write": "发送文件",
    "groups:history": "接收所在私有频道的消息，并读取提及之前的消息",
    "groups:read": "得知谁已离开私有频道",
    "im:history": "接收私聊消息，并读取停机期间的消息",
    "im:write": "把报告预览发给一位用户",
    "mpim:history": "接收多人私聊的消息，并读取提及之前的消息",
    "reactions:write": "在处理消息时以眼睛表情回应",
    "users:read": "查看用户的姓名、语言和成员身份",
}
"""The purpose of each scope of Slack."""

_SCOPE = LatePattern(r"slack: the app lacks the scope (\S+), to .+")

_PLATFORMS = (
    (r"(\w+): could not reach (.+)", r"\1：无法连接 \2"),
    (r"check the network, or (.+)", r"请检查网络，或 \1"),
    (r"(\w+): (.+) does not respond like (.+)", r"\1：\2 的响应不像 \3"),
    (r"check ([A-Z_]+)", r"请检查 \1"),
    (r"try again later", "请稍后再试"),
    (r"(\w+): the token is rejected", r"\1：令牌被拒绝"),
    (r"slack: receives events over HTTP at port (.+), path (.+)", r"slack：在端口 \1 以 HTTP 接收事件，路径 \2"),
    (r"slack: the app is (.+) in (.+)", r"slack：应用是 \2 中的 \1"),
    (
        r"add it at (.+), your app, OAuth & Permissions, then reinstall the app there",
        r"请在 \1 您的应用的 OAuth & Permissions 中添加，然后在那里重新安装应用",
    ),
    (r"slack: Socket Mode answers", "slack：Socket Mode 有应答"),
    (r"slack: the app-level token lacks the scope (.+)", r"slack：app-level token 缺少权限范围 \1"),
    (
        r"make a new one with it at (.+), your app, Basic Information, App-Level Tokens, for SLACK_APP_TOKEN",
        r"请在 \1 您的应用的 Basic Information、App-Level Tokens 中新建一个带该权限的令牌，填入 SLACK_APP_TOKEN",
    ),
    (r"(?:slack: )?Slack rejects the bot token \((\w+)\)", r"slack：Slack 拒绝了机器人令牌（\1）"),
    (
        r"(?:slack: )?Slack rejects the bot token \((\w+)\): the app was removed",
        r"slack：Slack 拒绝了机器人令牌（\1）：应用已被移除",
    ),
    (r"(?:slack: )?Slack rejects the app-level token \((\w+)\)", r"slack：Slack 拒绝了 app-level token（\1）"),
    (
        r"copy the Bot User OAuth Token again from (.+), your app, OAuth & Permissions, into SLACK_BOT_TOKEN",
        r"请从 \1 您的应用的 OAuth & Permissions 重新复制 Bot User OAuth Token 到 SLACK_BOT_TOKEN",
    ),
    (
        r"install it again, then copy the Bot User OAuth Token again from (.+), your app, OAuth & Permissions, into "
        "SLACK_BOT_TOKEN",
        r"请重新安装应用，再从 \1 您的应用的 OAuth & Permissions 复制 Bot User OAuth Token 到 SLACK_BOT_TOKEN",
    ),
    (
        r"make a new one at (.+), your app, Basic Information, App-Level Tokens, and put it into SLACK_APP_TOKEN",
        r"请在 \1 您的应用的 Basic Information、App-Level Tokens 中新建一个，填入 SLACK_APP_TOKEN",
    ),
    (r"(\w+): the bot is (.+)", r"\1：机器人是 \2"),
    (r"copy it again from @BotFather to TELEGRAM_BOT_TOKEN", "请从 @BotFather 重新复制到 TELEGRAM_BOT_TOKEN"),
    (r"telegram: the bot has a webhook at (.+)", r"telegram：机器人在 \1 设有 webhook"),
    (
        r"Parley removes it at start; stop the program that set it, or it will take the messages again",
        "Parley 启动时会移除它；请停止设置它的程序，否则它会再次取走消息",
    ),
    (
        r"telegram: in groups the bot sees only mentions, replies and commands",
        "telegram：机器人在群里只能看到提及、回复和命令",
    ),
    (
        r"to let it see all messages: @BotFather, /setprivacy, Disable, then add the bot to the group again",
        "要让它看到所有消息：在 @BotFather 中发送 /setprivacy，选 Disable，然后把机器人重新加入群",
    ),
    (r"copy it again to DISCORD_BOT_TOKEN: (.+)", r"请重新复制到 DISCORD_BOT_TOKEN：\1"),
    (
        r"discord: the Message Content Intent is off, and without it Discord rejects the connection",
        "discord：Message Content Intent 未开启，Discord 会因此拒绝连接",
    ),
    (
        r"turn it on: (.+), your application, Bot, Privileged Gateway Intents",
        r"请开启：\1，您的应用，Bot，Privileged Gateway Intents",
    ),
    (r"discord: to add the bot to a server, open (.+)", r"discord：要把机器人加入服务器，请打开 \1"),
    (
        r"discord: (.+) session starts are left today; at 0 Discord revokes the token",
        r"discord：今天还可以启动 \1 次会话；降到 0 时 Discord 会吊销令牌",
    ),
    (r"find out what keeps restarting Parley, and stop it", "请查明是什么不断重启 Parley，并停止它"),
)
_MODELS = (
    (r"no model can be chosen", "无法选择模型"),
    (r"(?:model: )?(.+); its server was not asked", r"模型：\1；未询问其服务器"),
    (r"(?:model: )?(.+), but Parley could not reach (.+)", r"模型：\1，但 Parley 无法连接 \2"),
    (r"check the network, or whether it runs", "请检查网络，以及它是否在运行"),
    (r"(?:model: )?(.+), but its server refuses the key", r"模型：\1，但其服务器拒绝了密钥"),
    (r"replace the key by a valid one", "请换成有效的密钥"),
    (
        r"(?:model: )?(.+), whose provider does not serve the place where Parley runs",
        r"模型：\1，其服务商不为 Parley 运行所在的地区提供服务",
    ),
    (r"(?:model: )?(.+), whose server redirects to another address", r"模型：\1，其服务器重定向到另一个地址"),
    (r"if no answers come, set that address", "如果收不到回答，请改设该地址"),
    (
        r"set PARLEY_MODEL to a model of a provider that serves it; another key would not help",
        "请把 PARLEY_MODEL 设为在该地区提供服务的服务商的模型；换密钥没有用",
    ),
    (r"(?:model: )?(.+), whose server has trouble now \((.+)\)", r"模型：\1，其服务器目前有故障（\2）"),
    (r"(?:model: )?(.+); its server answers", r"模型：\1；其服务器有应答"),
    (r"model: (.+)", r"模型：\1"),
    (
        r"for a real one set (.+) or another key of \.env\.example",
        r"要使用真正的模型，请设置 \1 或 .env.example 中的其他密钥",
    ),
    (r"MCP servers are set up \((.+)\), and cannot be used: (.+)", r"已设置 MCP 服务器（\1），但无法使用：\2"),
    (r"(.+) answers, and has no tools", r"\1 有应答，但没有工具"),
    (r"(.+): its tool (.+) is left out: it has no name", r"\1：工具 \2 未启用：没有名称"),
    (r"(.+): its tool (.+) is left out: its arguments are not an object", r"\1：工具 \2 未启用：其参数不是对象"),
    (r"(.+): its tool (.+) is left out: its arguments are nested too deeply", r"\1：工具 \2 未启用：其参数嵌套过深"),
    (r"(.+): its tool (.+) is left out: the schema .+ is not valid", r"\1：工具 \2 未启用：其参数的 schema 无效"),
    (r"(.+): its tool (.+) is left out: the schema .+ is too large", r"\1：工具 \2 未启用：其参数的 schema 过大"),
    (r"(.+): its tool (.+) is left out: the server has too many tools", r"\1：工具 \2 未启用：该服务器的工具过多"),
    (r"(.+): its tool (.+) is left out: an x-mcp-header .+", r"\1：工具 \2 未启用：其参数中的 x-mcp-header 无效"),
    (r"(.+): (\d+) more tools are left out", r"\1：还有 \2 个工具未启用"),
    (r"whoever maintains the server can correct it", "需要由该服务器的维护者修正"),
    (r"(.+): (\d+) tools?\d?", r"\1：\2 个工具"),
)
_HOME = (
    (r"(.+) is a file where a folder has to be", r"\1 是文件，而这里应该是文件夹"),
    (r"move it away, or set PARLEY_HOME to another folder", "请移走它，或把 PARLEY_HOME 设为其他文件夹"),
    (r"(.+) cannot be written to", r"无法写入 \1"),
    (
        r"make it yours \(chown\), or set PARLEY_HOME to another folder",
        "请改为归您所有（chown），或把 PARLEY_HOME 设为其他文件夹",
    ),
    (r"(.+) is writable", r"\1 可以写入"),
    (r"(.+) will be made at the first start", r"首次启动时会创建 \1"),
    (r"only (.+) MB are free on the disk of (.+)", r"\2 所在的磁盘只剩 \1 MB"),
    (r"make room, or set PARLEY_HOME to another folder", "请腾出空间，或把 PARLEY_HOME 设为其他文件夹"),
    (
        r"no program runs and no file is taken in, for (.+) MB are free on the disk of (.+)",
        r"不运行程序也不接收文件，因为 \2 所在的磁盘只剩 \1 MB",
    ),
    (r"make room for (.+) MB, or set (\w+)", r"请腾出 \1 MB，或设置 \2"),
    (r"(.+) is no file", r"\1 不是文件"),
    (r"(.+) can be read by others on this machine", r"本机上的其他人可以读取 \1"),
    (r"(.+) holds secrets and can be read by others on this machine", r"\1 含有密钥，而本机上的其他人可以读取它"),
    (r"(.+) cannot be read \((.+)\)", r"无法读取 \1（\2）"),
    (r"see that you own it and that the disk is well", "请确认它归您所有，且磁盘正常"),
    (r"(.+) has schema (.+), and this Parley knows (.+)", r"\1 的结构版本为 \2，而这个 Parley 只认识 \3"),
    (r"start the newer Parley", "请启动较新的 Parley"),
    (r"(.+) is sound, (.+) MB", r"\1 完好，\2 MB"),
    (r"(\d+) rows of (.+) can no longer be read \((.+)\)", r"\2 中有 \1 行已无法读取（\3）"),
    (
        r"they are skipped; a backup may still hold them \(`parley restore` lists them\), and have the disk checked",
        "这些行会被跳过；备份中可能仍有它们（`parley restore` 会列出备份），并请检查磁盘",
    ),
    (r"also stored: files (.+), former versions (.+), backups (.+)", r"另外保留：文件 \1，旧版本 \2，备份 \3"),
    (r"largest chats: (.+); people: (.+)", r"最大的聊天：\1；用户：\2"),
    (r"largest chats: (.+)", r"最大的聊天：\1"),
    (r"(.+) cannot be read and written", r"无法读写 \1"),
    (r"page: it cannot be opened to others as it is set", "网页：按目前的设置无法向他人开放"),
    (
        r"page: port (.+) is in use, by the Parley that runs \((.+)\) as it seems",
        r"网页：端口 \1 正被使用，看来是正在运行的 Parley（\2）",
    ),
    (r"page: port (.+) is taken by another program", r"网页：端口 \1 被其他程序占用"),
    (r"page: port (.+) is free", r"网页：端口 \1 空闲"),
    (r"page: port (.+)", r"网页：端口 \1"),
    (r"page: takes any port that is free", "网页：使用任意空闲端口"),
    (
        r"set PARLEY_WEB_PORT to another one; 0 takes any that is free",
        "请把 PARLEY_WEB_PORT 改为其他端口；0 表示任意空闲端口",
    ),
    (r"Parley is running \((.+)\)", r"Parley 正在运行（\1）"),
    (r"skills: (.+) built in, (.+) of yours", r"技能：自带 \1 个，您的 \2 个"),
    (r"skills: (.+) built in, (.+) of yours(.+)", r"技能：自带 \1 个，您的 \2 个\3"),
    (r"skill (.+) is not available: (.+)", r"技能 \1 不可用：\2"),
    (r"(.+) more files of skills need a look", r"还有 \1 个技能文件需要检查"),
    (r"see /skills in a direct chat", "请在私聊中发送 /skills 查看"),
    (
        r"plugins: (.+) of (.+) that come with Parley are on; switched off: (.+)",
        r"插件：Parley 自带 \2 个，启用 \1 个；已停用：\3",
    ),
    (r"plugin (.+): switched off by PARLEY_PLUGINS_OFF", r"插件 \1：已由 PARLEY_PLUGINS_OFF 停用"),
    (r"plugin (.+): installed, but PARLEY_PLUGINS does not name it", r"插件 \1：已安装，但 PARLEY_PLUGINS 中没有它"),
    (r"add it there if you trust it", "如果信任它，请加上其名称"),
    (r"plugins: (.+) of (.+) that come with Parley are on", r"插件：Parley 自带 \2 个，启用 \1 个"),
    (r"PARLEY_PLUGINS_OFF names (.+), and there is no such plugin", r"PARLEY_PLUGINS_OFF 中的 \1 不是已有的插件"),
    (r"plugin (.+): another one has its name, too", r"插件 \1：另有同名的插件"),
    (r"uninstall (.+), or leave one", r"请卸载 \1，或只保留一个"),
    (r"plugin (.+): no installed package has it", r"插件 \1：没有安装含有它的软件包"),
    (r"install it, or leave it out of PARLEY_PLUGINS", "请安装，或从 PARLEY_PLUGINS 中去掉"),
    (r"plugin (.+): its files cannot be read \((.+)\)", r"插件 \1：无法读取其文件（\2）"),
    (r"install its package again", "请重新安装其软件包"),
    (r"plugin (.+): (.+), is not what was approved", r"插件 \1：\2，与批准的不同"),
    (
        r"plugin (.+): (.+); `parley plugin check .+` tells its rights and what it may refuse, "
        r"/plugins its last failure while Parley runs",
        r"插件 \1：\2；权限和可拒绝的操作见 `parley plugin check \1`，最近一次失败请在 Parley 运行时用 /plugins 查看",
    ),
    (r"plugin (.+): (.+)", r"插件 \1：\2"),
    (
        r"start Parley, give /plugins approve (.+) in a chat if you trust it, and start Parley again",
        r"请启动 Parley，如果信任它，请在聊天中发送 /plugins approve \1，然后重新启动 Parley",
    ),
)
_DATABASE = (
    (
        r"the database can be used; it is empty or of an older Parley, and the next start makes its tables",
        "数据库可以使用；它是空的或由较早版本的 Parley 创建，下次启动会建好所需的表",
    ),
    (r"the way to the database keeps sessions, locks and news", "到数据库的连接能保持会话、锁和通知"),
    (r"the way to the database does not keep sessions: (.+)", r"到数据库的连接不能保持会话：\1"),
    (
        r"connect to PostgreSQL itself, or through a pooler in session mode",
        "请直接连接 PostgreSQL，或使用会话模式的连接池",
    ),
    (r"the clock agrees with that of the database", "时钟与数据库的一致"),
    (r"the clock of this machine is (\d+) s ahead of that of the database", r"本机时钟比数据库快 \1 秒"),
    (r"the clock of this machine is (\d+) s \S+ that of the database", r"本机时钟比数据库慢 \1 秒"),
    (
        r"let both be set from the network \(NTP\); until then Parley goes by the clock of the database",
        "请让两者都从网络校时（NTP）；在此之前 Parley 以数据库的时钟为准",
    ),
    (r"(.+) will belong to the database from the first start on", r"\1 将从首次启动起属于该数据库"),
    (r"(.+) is the folder that belongs to the database", r"\1 是属于该数据库的文件夹"),
    (r"(.+) belongs to another database", r"\1 属于另一个数据库"),
    (r"set PARLEY_HOME to the folder that the nodes share", "请把 PARLEY_HOME 设为各节点共用的文件夹"),
    (
        r"(.+) is not the folder that the nodes share \((.+) is missing in it\)",
        r"\1 不是各节点共用的文件夹（其中没有 \2）",
    ),
    (r"mount that one as PARLEY_HOME", "请把共用的文件夹挂载为 PARLEY_HOME"),
    (r"nodes: (.+)", r"节点：\1"),
    (r"(.+) is not the same on all nodes: (.+)", r"各节点的 \1 不一致：\2"),
    (r"set it everywhere, and restart those that lag", "请在各处设为相同，并重启落后的节点"),
    (r"node (.+) has not been heard of for (.+) s", r"节点 \1 已 \2 秒没有消息"),
    (r"see parley nodes", "请运行 parley nodes 查看"),
    (
        r"node (.+) cannot reach (.+); nodes that can do its work there",
        r"节点 \1 无法连接 \2，其在该平台的工作由能够连接的节点承担",
    ),
    (r"look at the network of its machine", "请检查该机器的网络"),
)
_MACHINE = (
    (
        r"remove the folder \.venv and start \./run again, or install Parley into an environment of its own",
        r"请删除文件夹 .venv 后再次启动 ./run，或把 Parley 安装到单独的环境中",
    ),
    (
        r"(.+); then replace every key and token that was on this machine",
        "请重新安装 Parley，然后更换本机上的所有密钥和令牌",
    ),
    (r"nobody may talk on (.+) yet", r"目前还没有人可以在 \1 上对话"),
    (r"start Parley; the console shows a code to send to the bot", "请启动 Parley；控制台会显示要发给机器人的配对码"),
    (r"Python (.+) is not supported", r"不支持 Python \1"),
    (r"use (Python 3.+ to .+)", r"请使用 \1"),
    (r"all of our packages are those of (.+)", r"所有软件包都来自 \1"),
    (r"litellm is not installed, so hosted models cannot be used", "没有安装 litellm，因此不能使用托管模型"),
    (r"litellm (.+) is a poisoned release that steals credentials", r"litellm \1 是被投毒、会窃取凭据的版本"),
    (r"the event loop is uvloop (.+)", r"事件循环是 uvloop \1"),
    (r"(.+) runs code at every start of Python", r"\1 会在每次启动 Python 时运行代码"),
    (r"find out what put it there, or delete it", "请查明它的来历，或删除它"),
    (r"no programs and no scripts of skills are run: (.+)", r"不运行程序和技能脚本：\1"),
    (r"programs are sandboxed by (.+), with the network", r"程序在 \1 中隔离运行，可以访问网络"),
    (r"programs are sandboxed by (.+), without the network", r"程序在 \1 中隔离运行，不能访问网络"),
    (r"programs are sandboxed by (.+)", r"程序在 \1 中隔离运行"),
    (r"PARLEY RUNS AS ROOT: a mistake in it has every right", "Parley 以 ROOT 运行：它的任何错误都拥有全部权限"),
    (r"give it a user of its own", "请为它单独设一个用户"),
    (
        r"settings: the environment only; there is no \.env or parley\.toml",
        "设置：只来自环境变量；没有 .env 或 parley.toml",
    ),
    (r"settings: (.+)", r"设置：\1"),
    (r"language (.+), time zone (.+)", r"语言 \1，时区 \2"),
    (r"tool calls are listed in (.+)", r"工具调用记录在 \1"),
    (r"(.+) is not read: only files in PARLEY_HOME are", r"没有读取 \1：只读取 PARLEY_HOME 中的文件"),
    (
        r"if it is yours, move it there or start with --config (.+)",
        r"如果是您的文件，请移到那里，或用 --config \1 启动",
    ),
    (r"(.+) is set and not used", r"设置了 \1，但没有用到"),
    (r"did you mean (.+)\?", r"您是不是想写 \1？"),
    (
        r"`parley plugin check NAME` tells which providers of models a plugin has",
        r"`parley plugin check NAME` 会列出插件提供哪些模型",
    ),
    (r"(.+) is not used: no plugin has this setting", r"没有用到 \1：没有插件有此设置"),
    (
        r"install the plugin and name it in PARLEY_PLUGINS, or take this out",
        r"请安装该插件并在 PARLEY_PLUGINS 中加上其名称，或删去此项",
    ),
    (r"(.+) has another name now", r"\1 已改名"),
    (r"call it (.+)", r"请改写为 \1"),
    (r"(.+) is of no use without (.+): (.+) stays closed", r"缺少 \2，\1 不起作用：\3 保持关闭"),
    (r"set (.+) too, or take that out", r"请同时设置 \1，或删除该项"),
    (r"correct it, or leave it out", "请更正或删除它"),
    (r"Nothing is wrong\.", "没有发现问题。"),
    (r"(\d+) problems? to put right\.", r"有 \1 个问题需要解决。"),
)
_FETCHES = (
    (
        r"(.+) leads to a private or special address, or to a port other than 80 and 443",
        r"\1 指向内部或特殊地址，或者端口不是 80 和 443",
    ),
    (r"(.+) gave no whole page within (.+) s", r"\1 在 \2 秒内没有给出完整内容"),
    (r"(.+) redirects more than (\d+) times", r"\1 重定向超过 \2 次"),
    (r"(.+) answers (\d+.*)", r"\1 返回 \2"),
    (r"there is no server named (.+)", r"没有名为 \1 的服务器"),
    (r"(.+) has no valid certificate", r"\1 没有有效的证书"),
    (r"no connection to (.+)", r"无法连接 \1"),
    (r"(.+) sent an answer that cannot be read", r"\1 的响应无法读取"),
    (r"that is no address of the web", "这不是网址"),
    (r"only http:// and https:// can be read, not (.+)", r"只能读取 http:// 和 https://，不能读取 \1"),
    (r"an address with a user name or a password in it is not read", "不读取带有用户名或密码的网址"),
    (r"the address is longer than (\d+) characters", r"网址超过 \1 个字符"),
)
"""The reasons why an address could not be fetched."""
_TABLES = _PLATFORMS, _MODELS, _HOME, _DATABASE, _MACHINE, _FETCHES
_CHINESE = tuple((LatePattern(words), chinese) for table in _TABLES for words, chinese in table)

_OF_PLUGINS: dict[str, Sequence[Mapping[str, str]]] = {}
"""The findings of plugins, by the plugin: each as a text by language, with places such as {name}."""


def finding_in(words: str, language: Language) -> str:
    """Return what a finding says, or its remedy, in a language. What has no translation stays as it is."""
    if language == "en":
        return words
    if scope := _SCOPE.fullmatch(words):
        return f"slack：应用缺少权限 {scope[1]}（{_PURPOSES.get(scope[1], scope[1])}）"
    of_core = (found.expand(chinese) for each, chinese in _CHINESE if (found := each.fullmatch(words)))
    texts = chain.from_iterable(_OF_PLUGINS.values())
    of_plugins = (
        text[language].format(**facts) for text in texts if (facts := _facts_in(words, text["en"])) is not None
    )
    return next(chain(of_core, of_plugins), words)


def wrong_with_finding(text: Mapping[str, str]) -> Iterator[str]:
    """Yield why a finding of a plugin cannot be told: a language is missing, or its places do not fit together."""
    english = str(text.get("en"))
    missing = list(wrong_with_text(english, text))
    yield from missing
    if not missing and not _fit(english, text.values()):
        yield f"the places of the finding {english!r} do not fit together"


def _fit(english: str, texts: Iterable[str]) -> bool:
    """Return True if each place has a name of its own, and no text has other ones."""
    try:
        places, others = _places(english), {place for text in texts for place in _places(text)}
    except ValueError:
        return False
    return len({*places}) == len(places) and all(map(str.isidentifier, places)) and others == {*places}


def _places(text: str) -> Sequence[str]:
    parts = Formatter().parse(text)
    return [f"{name}!{how}:{form}" if how or form else name for _, name, form, how in parts if name is not None]


def _facts_in(words: str, english: str) -> Mapping[str, str] | None:
    """Return what stands in the places of a text, or None if the words are not those of it."""
    parts = Formatter().parse(english)
    pattern = "".join(re.escape(before) + (f"(?P<{name}>.+)" if name else "") for before, name, *_ in parts)
    found = re.fullmatch(pattern, words)
    return found.groupdict() if found else None


def add_findings(plugin: str, texts: Sequence[Mapping[str, str]]) -> None:
    """Let `finding_in` know what a plugin finds. Each has to pass `wrong_with_finding`."""
    _OF_PLUGINS[plugin] = texts


def remove_findings(plugin: str) -> None:
    """Let `finding_in` forget what a plugin finds."""
    _OF_PLUGINS.pop(plugin, None)
