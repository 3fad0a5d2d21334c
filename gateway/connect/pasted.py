"""Finds tokens and keys in pasted text, often with more around them, and sometimes those of something else."""

import re
from typing import Annotated

from pydantic import BaseModel, TypeAdapter, ValidationError

from agent_core.models.providers import PROVIDERS
from channels import discovery
from gateway.settings.settings import channel_configs

_AROUND = " \t\r\n\v\f\u00a0\u200b\u200c\u200d\u2060\ufeff\"'`“”‘’«»<>"
_BEFORE = re.compile(r"(?:export\s+)?[A-Z][A-Z0-9_]*\s*=|(?:authorization\s*:\s*)?(?:bearer|bot)\s+", re.IGNORECASE)
"""What may stand before a token that was copied from a file or a request."""


def cleaned(text: str) -> str:
    """Return the pasted token or key without quotes, spaces, line breaks, its name and `Bearer`."""
    text = text.strip(_AROUND)
    while found := _BEFORE.match(text):
        text = text[found.end() :].strip(_AROUND)
    return text


def flaw(config: type[BaseModel], field: str, value: str) -> str:
    """Return why the value cannot be the one of this setting, or "" if it has its form."""
    known = config.model_fields[field]
    adapter: TypeAdapter[object] = TypeAdapter(Annotated[(known.annotation, *known.metadata)])  # type: ignore[arg-type]
    try:
        adapter.validate_python(value)
    except ValidationError as error:
        return error.errors()[0]["msg"].removeprefix("Value error, ")
    return ""


def whose(value: str) -> str:
    """Return whose token or key the value looks like, such as `Slack`, or "" if that cannot be told."""
    if not value:
        return ""
    for name, setup in discovery.setups().items():
        config = channel_configs()[name]
        if any(not flaw(config, token.field, value) for token in setup.tokens):
            return setup.title
    begun = [each for each in PROVIDERS if each.key_begins and value.startswith(each.key_begins)]
    return max(begun, key=lambda each: len(each.key_begins)).name if begun else ""
