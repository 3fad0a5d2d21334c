"""Texts that Parley itself shows to people, in English and Chinese."""

import pkgutil
import re
from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Literal

from gateway.texts import topics

Language = Literal["en", "zh"]
"""A language that Parley speaks."""
LANGUAGES: tuple[Language, ...] = ("en", "zh")
"""All of them."""

_TEXTS: dict[str, Mapping[str, str]] = {
    key: text
    for each in pkgutil.iter_modules(topics.__path__, f"{topics.__name__}.")
    for key, text in import_module(each.name).TEXTS.items()
}
"""Those of Parley itself, by key, and those that `add_texts` added."""

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
    "QUESTION": "问题",
    "WORDS": "关键词",
    "NAME": "名称",
    "PERSON": "用户",
    "ID": "编号",
    "CODE": "配对码",
    "TITLE": "标题",
    "AMOUNT": "数额",
    "MODEL": "模型",
}


def arguments_in(arguments: str, language: Language) -> str:
    """Return a command's arguments as `/help` shows them."""
    if language == "zh":
        for place, chinese in _PLACES_IN_CHINESE.items():
            arguments = arguments.replace(place, chinese)
    return arguments


def skill_reason(reason: str, language: Language) -> str:
    """Translate the reason that a skill is unavailable, which skills give in English."""
    if language == "zh":
        for words, chinese in _REASONS_IN_CHINESE:
            if found := words.fullmatch(reason):
                return found.expand(chinese).replace(" or ", " 或 ")
    return reason


_MODEL_REASONS_IN_CHINESE = (
    (re.compile(r"the settings ask for it"), "由设置指定"),
    (re.compile(r"(\w+) is set"), r"已设置 \1"),
    (re.compile(r"the settings ask for it, and (\w+) is set"), r"由设置指定，且已设置 \1"),
    (re.compile(r"the settings name the server at (.+)"), r"设置中的服务器 \1"),
    (re.compile(r"(.+) answers on port (\d+) with (.+)"), r"\1 在端口 \2 提供 \3"),
    (
        re.compile(r"the settings ask for it, and (.+) answers on port (\d+) with (.+)"),
        r"由设置指定，\1 在端口 \2 提供 \3",
    ),
    (re.compile(r"no key and no local model was found"), "没有找到密钥，也没有本地模型"),
    (
        re.compile(
            r'The model "(.+)" names no provider that is known: write "provider/model" with one of (.+); for a .+'
        ),
        r"模型“\1”没有指明已知的提供商：请写成“提供商/模型”，提供商可为 \2；自己的服务器请设置 OPENAI_BASE_URL，"
        r"或为“NAME/模型”设置 NAME_API_BASE",
    ),
    (re.compile(r'The model "(.+)" needs a key: set (\w+)\.'), r"模型“\1”需要密钥：请设置 \2"),
    (
        re.compile(r"(.+) does not answer on port (\d+) with the model (.+): start it, or fetch the model\."),
        r"\1 在端口 \2 上没有提供模型 \3：请启动它，或下载该模型",
    ),
    (
        re.compile(r'The base URL "(.+)" is no address of a server: write one such as (.+)\.'),
        r"“\1”不是服务器地址，请按 \2 的格式填写",
    ),
    (
        re.compile(r"The server at (.+) names no model: is it running\? Else set the model's name\."),
        r"\1 的服务器没有列出模型：它在运行吗？否则请设置模型名称",
    ),
)
"""Patterns for `ModelChoice.why` and `ModelSettingError`. If several match, the last one applies."""


def model_reason(why: str, language: Language) -> str:
    """Translate the reason that a model was selected or cannot be used, which is given in English."""
    found = [(each.fullmatch(why), chinese) for each, chinese in _MODEL_REASONS_IN_CHINESE] if language == "zh" else []
    return next((match.expand(chinese) for match, chinese in reversed(found) if match), why)


def wrong_with_text(key: str, text: Mapping[str, str]) -> Iterator[str]:
    """Yield why a text of a plugin cannot be used: its key has another one, or it is not there in each language."""
    if _TEXTS.get(key, text) != text:
        yield f"two texts have the key {key!r}"
    if missing := [language for language in LANGUAGES if not isinstance(text.get(language), str)]:
        yield f"the text {key!r} is missing in {', '.join(missing)}"


def add_texts(texts: Mapping[str, Mapping[str, str]]) -> None:
    """Let `say` know the texts of a plugin: all of them, or none.

    They have to pass `wrong_with_text`.
    """
    for key, text in texts.items():
        _TEXTS.setdefault(key, text)


def remove_texts(texts: Mapping[str, Mapping[str, str]]) -> None:
    """Let `say` forget texts that `add_texts` added."""
    for key, text in texts.items():
        if _TEXTS.get(key) is text:
            del _TEXTS[key]


def has_text(key: str) -> bool:
    """Return True if there is a text with this key: a plugin that is gone has taken its own with it."""
    return key in _TEXTS


def say(key: str, language: Language, **facts: str | int) -> str:
    """Return the text in the language with its placeholders filled in. Raises KeyError for an unknown key."""
    return _TEXTS[key][language].format(**facts)


def language_of(tag: str | None, default: Language) -> Language:
    """Return the language for a client's tag: `zh-hans` is Chinese; an unknown tag gives the default."""
    prefix = (tag or "").split("-")[0].lower()
    return next((language for language in LANGUAGES if language == prefix), default)
