"""Everything Parley itself says to people, in one place, in English and Chinese."""

import re
from collections.abc import Mapping
from typing import Literal

from gateway.wording import (
    approvals,
    chat,
    firings,
    heartbeat,
    jobs,
    proactive,
    runs,
    skills,
    status,
    tasks,
    timing,
    wakes,
    zone,
)

Language = Literal["en", "zh"]
LANGUAGES: tuple[Language, ...] = ("en", "zh")

_TEXTS: Mapping[str, Mapping[str, str]] = {
    **approvals.TEXTS,
    **chat.TEXTS,
    **firings.TEXTS,
    **heartbeat.TEXTS,
    **jobs.TEXTS,
    **proactive.TEXTS,
    **runs.TEXTS,
    **skills.TEXTS,
    **status.TEXTS,
    **tasks.TEXTS,
    **timing.TEXTS,
    **wakes.TEXTS,
    **zone.TEXTS,
}


_TOOLS_IN_CHINESE = {
    "calculator": "计算 {expression}",
    "clock": "查看时间",
    "edit_file": "修改 {path}",
    "forget": "忘掉第 {number} 条",
    "grep": "搜索 {pattern}",
    "jobs": "日程：{action} {id}",
    "list_dir": "查看文件",
    "list_skills": "查看技能",
    "load_skill": "加载技能 {name}",
    "load_skill_reference": "读取技能 {skill} 的 {reference}",
    "nothing_to_report": "没有要报告的",
    "own_usage": "查看用量",
    "read_file": "读取 {path}",
    "read_history": "查看之前的聊天",
    "recall": "查看记忆",
    "remember": "记住：{fact}",
    "run_command": "运行 {call}",
    "run_skill_script": "运行 {call}",
    "schedule": "拟定：{what}",
    "send_file": "发送 {path}",
    "unload_skill": "卸载技能 {name}",
    "task": "任务：{prompt}",
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


_REASONS_IN_CHINESE = (
    (re.compile(r"needs one of (.+), of which none is installed"), r"需要安装其中之一：\1"),
    (re.compile(r"needs (.+), which is not installed"), r"需要安装 \1"),
    (re.compile(r"needs (.+), which is not set"), r"需要设置 \1"),
    (re.compile(r"needs (.+)"), r"需要 \1"),
    (re.compile(r"is disabled in its file"), "已在文件中停用"),
)


_PLACES_IN_CHINESE = {
    "TIME": "时间",
    "TEXT": "内容",
    "KEEP": "要保留的内容",
    "WORDS": "关键词",
    "NAME": "名称",
    "ID": "编号",
}


def arguments_in(arguments: str, language: Language) -> str:
    """What a command takes, as `/help` shows it."""
    if language == "zh":
        for place, chinese in _PLACES_IN_CHINESE.items():
            arguments = arguments.replace(place, chinese)
    return arguments


def skill_reason(reason: str, language: Language) -> str:
    """Why a skill is not available, which skills say in English."""
    if language == "zh":
        for words, chinese in _REASONS_IN_CHINESE:
            if found := words.fullmatch(reason):
                return found.expand(chinese).replace(" or ", " 或 ")
    return reason


def say(key: str, language: Language, **facts: str | int) -> str:
    """The text in that language with the facts filled in. Raises KeyError for a key that is not here."""
    return _TEXTS[key][language].format(**facts)


def language_of(tag: str | None, default: Language) -> Language:
    """Ours for a client's language tag: `zh-hans` is Chinese, anything else unknown is the default."""
    prefix = (tag or "").split("-")[0].lower()
    return next((language for language in LANGUAGES if language == prefix), default)
