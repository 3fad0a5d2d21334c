"""Conversion of Markdown by telegramify-markdown. Importing it takes 25 ms, which the first poll does not wait for."""

from functools import partial

from telegramify_markdown import RenderConfig
from telegramify_markdown import convert as _convert

_SYMBOLS = ("heading_level_1", "heading_level_2", "heading_level_3", "heading_level_4", "image", "link")


def _config() -> RenderConfig:
    config = RenderConfig.isolated()
    for symbol in _SYMBOLS:
        setattr(config.markdown_symbol, symbol, "")
    config.markdown_symbol.unordered_list_item = "•"
    return config


convert = partial(_convert, config=_config())
