"""Settings in the words of people: the titles and descriptions that the screens and the palette show."""

from functools import cache

from gateway.settings.env_example import Described, described
from gateway.settings.settings import setting_names
from gateway.texts.say import Language
from gateway.texts.setting_titles import title_of
from gateway.texts.settings_in_chinese import SETTINGS


def about_of(name: str, language: Language) -> str:
    """Return the description of a setting."""
    found = facts_of(name)
    return found.chinese or SETTINGS.get(name, found.words) if language == "zh" else found.words


def shown_title(name: str, language: Language) -> str:
    return title_of(name, about_of(name, language), language)


@cache
def facts_of(name: str) -> Described:
    """Return a setting as its class describes it. That is read from the source, so it is read once."""
    return described(next(key for key in setting_names().flat.values() if ".".join(key) == name))
