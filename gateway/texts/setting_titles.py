"""The settings by the names that people read, in both languages, and the topics to which they belong."""

from collections.abc import Mapping

from gateway.texts.say import Language

TOPICS: Mapping[str, Mapping[Language, str]] = {
    "answers": {"en": "Answers and manner", "zh": "回答与风格"},
    "people": {"en": "Who may talk to it", "zh": "谁可以与它对话"},
    "rights": {"en": "What it may do", "zh": "它可以做什么"},
    "money": {"en": "Money", "zh": "费用"},
    "limits": {"en": "Limits of one answer", "zh": "单次回答的限制"},
    "space": {"en": "Space of chats and people", "zh": "聊天和用户的空间"},
    "keeping": {"en": "Memory, backups and records", "zh": "记忆、备份与记录"},
    "page": {"en": "This page", "zh": "本网页"},
    "platforms": {"en": "Chat platforms", "zh": "聊天平台"},
    "plugins": {"en": "Plugins", "zh": "插件"},
    "operation": {"en": "Operation", "zh": "运行"},
}
"""By name, in the order in which they are shown."""

_OF_TABLES = {
    "permissions": "rights",
    "limits": "limits",
    "budgets": "money",
    "quotas": "space",
    "web": "page",
    "discord": "platforms",
    "slack": "platforms",
    "telegram": "platforms",
    "plugin": "plugins",
}
"""The topics of tables of settings."""

TITLES: Mapping[str, tuple[str, str, str]] = {
    "model": ("answers", "Model", "模型"),
    "thinking": ("answers", "Thinking before an answer", "回答前的思考"),
    "ai_name": ("answers", "Name", "名字"),
    "personality": ("answers", "Manner of speaking", "说话方式"),
    "language": ("answers", "Language of its own messages", "自身消息的语言"),
    "timezone": ("answers", "Time zone", "时区"),
    "fallbacks": ("answers", "Models that stand in", "备用模型"),
    "models": ("answers", "Other models to choose from", "可选的其他模型"),
    "vision": ("answers", "Show pictures to the model", "把图片交给模型"),
    "heartbeat": ("answers", "Offer to look for things to do", "提议主动检查事项"),
    "openai_base_url": ("answers", "Address of your own model server", "自有模型服务器的地址"),
    "owners": ("people", "Owners", "所有者"),
    "allow": ("people", "People who are let in", "获准的用户"),
    "answer_strangers": ("people", "Tell strangers that the owner was asked", "告知陌生人已询问所有者"),
    "member_models": ("people", "Models for members", "成员可用的模型"),
    "guest_models": ("people", "Models for guests", "访客可用的模型"),
    "search": ("rights", "Web search", "网页搜索"),
    "commands_network": ("rights", "Network for programs", "程序的网络访问"),
    "permissions.owner": ("rights", "Rules for owners", "所有者的规则"),
    "permissions.admin": ("rights", "Rules for admins", "管理员的规则"),
    "permissions.user": ("rights", "Rules for members", "成员的规则"),
    "permissions.guest": ("rights", "Rules for guests", "访客的规则"),
    "permissions.tainted": ("rights", "Stricter rules after untrusted input", "读过不可信内容后的更严规则"),
    "budgets.all": ("money", "Budget of everything together", "总预算"),
    "budgets.chat": ("money", "Budget of each chat", "每个聊天的预算"),
    "budgets.person": ("money", "Budget of each person", "每位用户的预算"),
    "budgets.job": ("money", "Budget of each job", "每个日程的预算"),
    "budgets.cheaper_model": ("money", "Cheaper model near the end of a budget", "预算将尽时的便宜模型"),
    "budgets.unknown_price": ("money", "Price that is assumed where none is known", "价格未知时的假定价格"),
    "limits.model_calls": ("limits", "Model requests", "模型请求次数"),
    "limits.tool_calls": ("limits", "Tool calls", "工具调用次数"),
    "limits.minutes": ("limits", "Minutes", "分钟数"),
    "quotas.chat_mb": ("space", "Disk of a chat (MB)", "聊天的磁盘空间（MB）"),
    "quotas.chat_files": ("space", "Files of a chat", "聊天的文件数"),
    "quotas.person_mb": ("space", "Disk of a person (MB)", "用户的磁盘空间（MB）"),
    "quotas.person_files": ("space", "Files of a person", "用户的文件数"),
    "quotas.chat_memory_mb": ("space", "Memory of a chat's programs (MB)", "聊天中程序的内存（MB）"),
    "quotas.person_memory_mb": ("space", "Memory of a person's programs (MB)", "用户程序的内存（MB）"),
    "quotas.command_mb": ("space", "Disk that one program may fill (MB)", "单个程序可占用的磁盘（MB）"),
    "quotas.command_files": ("space", "Files that one program may add", "单个程序可添加的文件数"),
    "quotas.command_memory_mb": ("space", "Memory of one program (MB)", "单个程序的内存（MB）"),
    "quotas.chat_jobs": ("space", "Jobs of a chat", "聊天的日程数"),
    "quotas.owner_jobs": ("space", "Jobs kept for owners", "留给所有者的日程数"),
    "quotas.person_jobs": ("space", "Jobs of a person", "用户的日程数"),
    "quotas.person_runs": ("space", "Reports a day for a person", "用户每天的汇报次数"),
    "quotas.reserve_mb": ("space", "Disk that stays free (MB)", "保留的空闲磁盘（MB）"),
    "quotas.ballast_mb": ("space", "Disk set aside for a full disk (MB)", "为磁盘写满预留的空间（MB）"),
    "backups": ("keeping", "Nightly backups that are kept", "保留的每夜备份份数"),
    "keep_days": ("keeping", "Days that long results are kept", "较长结果的保留天数"),
    "audit": ("keeping", "Record of all tool calls", "记录全部工具调用"),
    "database_url": ("keeping", "PostgreSQL database", "PostgreSQL 数据库"),
    "node_name": ("keeping", "Name of this machine among several", "多台机器中本机的名称"),
    "web.person": ("page", "Your name on the page", "您在网页上的名字"),
    "web.enabled": ("page", "Page on this machine", "本机上的网页"),
    "web.url": ("page", "Address for others", "供他人访问的地址"),
    "web.programs_url": ("page", "Address for programs on other machines", "供其他机器上的程序访问的地址"),
    "web.max_upload": ("page", "Largest file (bytes)", "最大文件（字节）"),
    "web.port": ("page", "Port", "端口"),
    "web.host": ("page", "Address on which it listens", "监听地址"),
    "web.certificate_file": ("page", "Certificate file", "证书文件"),
    "web.key_file": ("page", "File of the certificate's key", "证书私钥文件"),
    "web.proxy": ("page", "Proxy before the page", "网页前的代理"),
    "telegram.bot_token": ("platforms", "Telegram: token of the bot", "Telegram：机器人令牌"),
    "telegram.base_url": ("platforms", "Telegram: address of the API", "Telegram：接口地址"),
    "telegram.poll_seconds": (
        "platforms",
        "Telegram: seconds of one wait for messages",
        "Telegram：单次等待消息的秒数",
    ),
    "telegram.calls_per_second": ("platforms", "Telegram: messages per second", "Telegram：每秒消息数"),
    "telegram.rich_chats": ("platforms", "Telegram: chats with tables", "Telegram：显示表格的聊天"),
    "slack.bot_token": ("platforms", "Slack: token of the bot", "Slack：机器人令牌"),
    "slack.app_token": ("platforms", "Slack: app-level token", "Slack：应用级令牌"),
    "slack.signing_secret": ("platforms", "Slack: signing secret", "Slack：签名密钥"),
    "slack.port": ("platforms", "Slack: port for events", "Slack：事件端口"),
    "slack.agent_view": ("platforms", "Slack: agent view", "Slack：agent view 模式"),
    "slack.base_url": ("platforms", "Slack: address of the API", "Slack：接口地址"),
    "discord.bot_token": ("platforms", "Discord: token of the bot", "Discord：机器人令牌"),
    "discord.thread_channels": ("platforms", "Discord: channels with threads", "Discord：使用子区的频道"),
    "discord.base_url": ("platforms", "Discord: address of the API", "Discord：接口地址"),
    "plugins": ("plugins", "Plugins of others", "第三方插件"),
    "plugins_off": ("plugins", "Plugins that are switched off", "停用的插件"),
    "drain_seconds": ("operation", "Seconds to finish answers at a stop", "停止时完成回答的秒数"),
    "log_level": ("operation", "Detail of the log", "日志详细程度"),
    "log_format": ("operation", "Format of the log", "日志格式"),
}
"""The settings of Parley by their names: topic, and title in English and Chinese.

One that is missing here has what its description begins with as its title, and the topic of its table.
"""

RARE = frozenset(
    {
        "openai_base_url",
        "budgets.unknown_price",
        "vision",
        "database_url",
        "node_name",
        "web.max_upload",
        "web.programs_url",
        "web.port",
        "web.host",
        "web.certificate_file",
        "web.key_file",
        "web.proxy",
        "telegram.base_url",
        "telegram.poll_seconds",
        "telegram.calls_per_second",
        "slack.port",
        "slack.agent_view",
        "slack.base_url",
        "discord.base_url",
        "log_format",
        "drain_seconds",
    }
)
"""Those that hardly anybody changes; they are folded, as are those of the space that chats and people take."""


def title_of(name: str, about: str, language: Language) -> str:
    """Return the title of a setting."""
    if found := TITLES.get(name):
        return found[1] if language == "en" else found[2]
    first = about
    for end in (":", "：", ".", "。", ",", "，", ";", "；"):
        first = first.partition(end)[0]
    return first.strip()


def topic_of(name: str) -> str:
    """Return the name of a setting's topic."""
    found = TITLES.get(name)
    return found[0] if found else _OF_TABLES.get(name.partition(".")[0], "operation")


def is_rare(name: str) -> bool:
    """Return True for a setting that hardly anybody changes."""
    return name in RARE or topic_of(name) == "space"
