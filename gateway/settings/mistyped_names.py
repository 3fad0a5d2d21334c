"""Detects variables whose names nearly match keys and tokens that Parley reads."""

import difflib
from collections.abc import Iterator, Mapping
from pathlib import Path

from agent_core.models.providers import PROVIDERS
from channels.checkup import Finding, note
from gateway.settings.sources import Names

SEARCH_KEYS = "BRAVE_API_KEY", "TAVILY_API_KEY"
BRANDS = {
    "CLAUDE": "ANTHROPIC",
    "CHATGPT": "OPENAI",
    "GPT": "OPENAI",
    "GROK": "XAI",
    "QWEN": "DASHSCOPE",
}
"""Provider's name as in its key, by product name."""
USUAL = frozenset({"API", "APIKEY", "BOT", "KEY", "TOKEN"})
"""Words that are often confused in names of keys."""
ENDINGS = ("KEY", "TOKEN", "SECRET")
LEAST_BRAND = 5
"""Letters. A shorter name that differs by one letter may well belong to another company."""
ALIKE = 0.85
"""Similarity from which a provider's name counts as misspelt: OPENAAI for OPENAI does, OPENAQ does not."""


def misnamed(
    environ: Mapping[str, str], from_dotenv: Mapping[str, tuple[str, int]], dotenv: Path | None, names: Names
) -> Iterator[Finding]:
    """Yield a note for each variable that is set, is not read, and looks like one that is read."""
    places = {
        name: f"{name} in {dotenv}, line {line}"
        for name, (value, line) in from_dotenv.items()
        if value.strip() and not name.startswith(names.prefixes)  # these are refused
    }
    places |= {name: f"{name} in the environment" for name, value in environ.items() if value.strip()}
    known = _known(names)
    for name, place in places.items():
        meant = None if name in known or name in names.flat else near(name, known)
        if meant is not None and meant not in places:
            yield note(f"{place} is set and not used", f"did you mean {meant}?")


def near(name: str, known: frozenset[str]) -> str | None:
    """Return the known key or token that this name resembles, or None."""
    brands: dict[str, list[str]] = {}
    for each in sorted(known):
        brands.setdefault(each.partition("_")[0], []).append(each)
    for brand, tail in _halves(name):
        meant = _brand(brand, brands)
        if meant is None:
            continue
        own = {word for each in brands[meant] for word in each.split("_")[1:]}
        if set(tail) <= USUAL | own and tail[-1].endswith(ENDINGS):
            wanted = "_".join((meant, *tail))
            return difflib.get_close_matches(wanted, brands[meant], n=1, cutoff=0.0)[0]
    return None


def _known(names: Names) -> frozenset[str]:
    keys = {key for provider in PROVIDERS for key in provider.keys}
    ours = {name for name in names.flat if not name.startswith("PARLEY_") and name.endswith(ENDINGS)}
    return frozenset({*keys, *ours, *SEARCH_KEYS})


def _halves(name: str) -> Iterator[tuple[str, list[str]]]:
    """Yield candidates for the provider's name, with the remaining words; people also write OPEN_AI."""
    words = name.upper().split("_")
    for length in (1, 2):
        if len(words) > length:
            yield "".join(words[:length]), words[length:]


def _brand(written: str, brands: Mapping[str, object]) -> str | None:
    if written in brands:
        return written
    if written in BRANDS:
        return BRANDS[written]
    if len(written) < LEAST_BRAND:
        return None
    long = [brand for brand in brands if len(brand) >= LEAST_BRAND]
    return next(iter(difflib.get_close_matches(written, long, n=1, cutoff=ALIKE)), None)
