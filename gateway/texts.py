"""Everything Parley itself says to people, in one place, in English and Chinese."""

from collections.abc import Mapping
from typing import Literal

Language = Literal["en", "zh"]
LANGUAGES: tuple[Language, ...] = ("en", "zh")

_TEXTS: dict[str, dict[Language, str]] = {
    "stopped": {"en": "Stopped.", "zh": "已停止。"},
    "nothing_to_stop": {"en": "Nothing is running here.", "zh": "这里没有正在运行的任务。"},
    "not_yours": {
        "en": "Only the person who asked, or an owner, can stop this.",
        "zh": "只有提问者或所有者可以停止它。",
    },
    "new_session": {"en": "A new conversation begins. I remember nothing of the last one.", "zh": "已开始新的对话。"},
    "empty_answer": {
        "en": "The model gave no answer. Please try again or ask differently.",
        "zh": "模型没有给出回答，请重试或换一种问法。",
    },
    "mention_only": {"en": "Yes? Tell me what you need.", "zh": "请告诉我您需要什么。"},
    "unknown_command": {
        "en": "I do not know {slash}{name}. See {slash}help.",
        "zh": "我不认识 {slash}{name}，请看 {slash}help。",
    },
    "slow_down": {
        "en": "That was a lot at once. Please send it again in {seconds} s.",
        "zh": "消息太多了，请 {seconds} 秒后再发一次。",
    },
    "start": {
        "en": "Hello, I am {name}. Write to me as you would to a colleague; {slash}help lists what else I understand.",
        "zh": "您好，我是 {name}。像和同事说话一样给我发消息即可；{slash}help 列出其他命令。",
    },
    "demo": {
        "en": "Right now the **demo model** answers: it is no AI, but its tools are real.",
        "zh": "现在回答您的是**演示模型**：它不是人工智能，但工具是真实的。",
    },
    "help": {"en": "What I understand:", "zh": "可用命令："},
    "language_set": {"en": "I speak English here now.", "zh": "这里现在使用中文。"},
    "language_ask": {"en": "Which language shall I speak here?", "zh": "请选择语言 / Choose a language"},
    "status_model": {"en": "**Model:** {model}", "zh": "**模型：** {model}"},
    "status_context": {
        "en": "**Context:** about {used} of {window} tokens",
        "zh": "**上下文：** 约 {used} / {window} 个词元",
    },
    "status_run": {"en": "**Now:** {state}", "zh": "**当前：** {state}"},
    "status_idle": {"en": "idle", "zh": "空闲"},
    "status_running": {
        "en": "answering for {seconds} s, {waiting} waiting",
        "zh": "已运行 {seconds} 秒，{waiting} 条等待",
    },
    "status_up": {"en": "**Up:** {time}, version {version}", "zh": "**已运行：** {time}，版本 {version}"},
    "status_programs": {"en": "**Programs:** shut in by {sandbox}", "zh": "**程序：** 由 {sandbox} 隔离运行"},
    "status_no_programs": {"en": "**Programs:** none are run here", "zh": "**程序：** 此处不运行程序"},
    "status_no_programs_why": {
        "en": "**Programs:** none are run: {why}",
        "zh": "**程序：** 此处不运行程序：{why}",
    },
    "status_chat": {"en": "**This chat:** `{chat}`", "zh": "**本聊天：** `{chat}`"},
    "stop_button": {"en": "Stop", "zh": "停止"},
    "working": {"en": "Working…", "zh": "处理中…"},
    "retrying": {
        "en": "The model failed; asking it again in {seconds} s",
        "zh": "模型出错，{seconds} 秒后重试",
    },
    "folded": {"en": "{tools}, {seconds} s", "zh": "{tools}，{seconds} 秒"},
    "folded_no_tools": {"en": "Took {seconds} s", "zh": "用时 {seconds} 秒"},
    "one_tool": {"en": "1 tool", "zh": "1 个工具"},
    "many_tools": {"en": "{count} tools", "zh": "{count} 个工具"},
    "max_turns": {
        "en": "[Reached the limit of {most} model calls]",
        "zh": "[达到最大模型调用次数 {most}]",
    },
    "max_tool_calls": {
        "en": "[Reached the limit of {most} tool calls]",
        "zh": "[达到最大工具调用次数 {most}]",
    },
    "budget_exhausted": {"en": "[Reached the budget of this answer]", "zh": "[已达到本次回答的预算]"},
    "acts_read": {"en": "It looks at the files of this chat.", "zh": "它会查看本聊天的文件。"},
    "acts_write": {"en": "It changes the files of this chat.", "zh": "它会更改本聊天的文件。"},
    "acts_net": {"en": "It sends something to another machine.", "zh": "它会向另一台机器发送内容。"},
    "acts_exec": {"en": "It runs a program.", "zh": "它会运行程序。"},
    "acts_admin": {"en": "It changes schedules, skills or settings.", "zh": "它会更改日程、技能或设置。"},
    "after_strangers": {
        "en": "Strangers may have written some of what was read in this conversation, and may have wanted this.",
        "zh": "本次对话中读到的内容可能出自陌生人之手，这可能是他们的意图。",
    },
    "not_allowed": {"en": "That is not allowed here.", "zh": "此处不允许这样做。"},
    "ask_title": {"en": "**May I do this?** ({tool})", "zh": "**可以执行吗？**（{tool}）"},
    "ask_how": {
        "en": "Answer with `{slash}approve {id}` or `{slash}deny {id}` within {minutes} minutes.",
        "zh": "请在 {minutes} 分钟内用 `{slash}approve {id}` 或 `{slash}deny {id}` 回答。",
    },
    "approve_button": {"en": "Approve", "zh": "批准"},
    "deny_button": {"en": "Deny", "zh": "拒绝"},
    "ask_approved": {"en": "✓ Approved by {name}: {what}", "zh": "✓ {name} 已批准：{what}"},
    "ask_denied": {"en": "✗ Denied by {name}: {what}", "zh": "✗ {name} 已拒绝：{what}"},
    "ask_expired": {"en": "✗ Not answered in time: {what}", "zh": "✗ 未及时回答：{what}"},
    "ask_unused": {"en": "✗ The approval ran out before it was used: {what}", "zh": "✗ 批准已过期，未被使用：{what}"},
    "ask_withdrawn": {"en": "✗ Not wanted any more: {what}", "zh": "✗ 已不再需要：{what}"},
    "ask_somebody": {"en": "somebody", "zh": "某人"},
    "ask_unknown": {"en": "There is no question {id} here.", "zh": "这里没有编号为 {id} 的问题。"},
    "ask_not_yours": {
        "en": "Only the person who asked, or an owner, can answer this.",
        "zh": "只有提问者或所有者可以回答它。",
    },
    "ask_too_late": {
        "en": "That is too late: it was not answered in time. Ask for it again if it is still wanted.",
        "zh": "太晚了：未及时回答。如仍需要，请重新提出。",
    },
    "ask_was_approved": {"en": "That has been approved already.", "zh": "已经批准过了。"},
    "ask_was_denied": {"en": "That has been denied already.", "zh": "已经拒绝过了。"},
    "ask_was_withdrawn": {"en": "That is not wanted any more.", "zh": "已不再需要。"},
    "ask_none": {"en": "Nothing here waits for your answer.", "zh": "这里没有等待您回答的问题。"},
    "ask_which": {"en": "Say which one:", "zh": "请说明是哪一个："},
    "status_questions": {"en": "**Questions:** {count} open", "zh": "**待批准：** {count} 个"},
    "waiting_approval": {"en": "Waiting for approval: {label}", "zh": "等待批准：{label}"},
    "error_overflow": {
        "en": "This conversation is too long for the model. Start a new one with {slash}new. (run {run})",
        "zh": "对话太长，模型无法处理。请用 {slash}new 开始新的对话。（运行 {run}）",
    },
    "error_transient": {
        "en": "The model cannot be reached right now. Please try again in a while. (run {run})",
        "zh": "暂时无法连接模型，请稍后再试。（运行 {run}）",
    },
    "error_quota": {
        "en": "The model's account has no quota left. The owner has to look after it. (run {run})",
        "zh": "模型账户的额度已用完，请联系所有者。（运行 {run}）",
    },
    "error_auth": {
        "en": "The model refused our key. The owner has to look after it. (run {run})",
        "zh": "模型拒绝了我们的密钥，请联系所有者。（运行 {run}）",
    },
    "error_invalid": {
        "en": "The model refused this request. Try it in other words, or start anew with {slash}new. (run {run})",
        "zh": "模型拒绝了该请求，请换一种说法，或用 {slash}new 重新开始。（运行 {run}）",
    },
    "error_fatal": {
        "en": "Something went wrong on our side. Please try again. (run {run})",
        "zh": "我们这边出了点问题，请重试。（运行 {run}）",
    },
}


_TOOLS_IN_CHINESE = {
    "add_note": "记下：{text}",
    "calculator": "计算 {expression}",
    "clock": "查看时间",
    "delete_note": "删除第 {number} 条笔记",
    "edit_file": "修改 {path}",
    "grep": "搜索 {pattern}",
    "list_dir": "查看文件",
    "list_notes": "查看笔记",
    "read_file": "读取 {path}",
    "run_command": "运行 {call}",
    "run_skill_script": "运行 {call}",
    "send_file": "发送 {path}",
    "wait": "等待 {seconds} 秒",
    "web_fetch": "阅读 {url}",
    "web_search": "搜索：{query}",
    "write_file": "写入 {path}",
}
"""What each tool is doing; in English the tools say it themselves. `{call}` is that without its first word."""


def tool_label(tool: str, label: str, facts: Mapping[str, object], language: Language) -> str:
    """What a tool is doing, in that language as far as we know the tool, else as it says itself."""
    text = _TOOLS_IN_CHINESE.get(tool) if language == "zh" else None
    shown = {key: str(value)[:60] for key, value in facts.items()} | {"call": label.partition(" ")[2] or label}
    try:
        return text.format(**shown) if text else label
    except KeyError:  # the model left an argument out
        return label


def say(key: str, language: Language, **facts: str | int) -> str:
    """The text in that language with the facts filled in. Raises KeyError for a key that is not here."""
    return _TEXTS[key][language].format(**facts)


def language_of(tag: str | None, default: Language) -> Language:
    """Ours for a client's language tag: `zh-hans` is Chinese, anything else unknown is the default."""
    prefix = (tag or "").split("-")[0].lower()
    return next((language for language in LANGUAGES if language == prefix), default)
