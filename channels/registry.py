"""Which channels there are, and how one is opened. Nothing of a platform is imported before its channel is opened.

A channel is a package with two modules: `config` with a pydantic model `Config` that imports no SDK, and `adapter` with
`open_channel(config)`. Those that live in `channels` are found by looking; others register their package's name under
the entry point group `parley.channels`. A third module, `doctor`, is optional (see `channels/checkup.py`).
"""

import importlib
import pkgutil
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.metadata import entry_points
from importlib.util import find_spec
from types import MappingProxyType
from typing import cast

from pydantic import BaseModel, SecretStr

from channels.base import Channel
from channels.checkup import Check, Finding

GROUP = "parley.channels"
HOME = "channels"


@cache
def configs() -> Mapping[str, type[BaseModel]]:
    """The settings of every channel that is installed, by its name."""
    found = {name: _config(package) for name, package in _packages().items()}
    return MappingProxyType({name: config for name, config in found.items() if config is not None})


def required_secret(config: type[BaseModel]) -> str | None:
    """The field that says whether the channel is wanted: the first secret without a default. None where there is no
    such field; such a channel needs no account and is composed by who starts the program."""
    return next(
        (
            name
            for name, field in config.model_fields.items()
            if field.is_required() and isinstance(field.annotation, type) and issubclass(field.annotation, SecretStr)
        ),
        None,
    )


def open_channel(name: str, config: BaseModel) -> Channel:
    """Import the platform's SDK and make the channel; nothing is sent yet. Raises KeyError for a name that
    `configs` does not have."""
    adapter = importlib.import_module(f"{_packages()[name]}.adapter")
    return cast(Channel, adapter.open_channel(config))


async def check(name: str, config: BaseModel) -> Sequence[Finding]:
    """What the channel's own doctor finds; nothing where it has none."""
    module = f"{_packages()[name]}.doctor"
    if find_spec(module) is None:
        return ()
    look = cast(Check, importlib.import_module(module).check)
    return await look(config)


@cache
def _packages() -> Mapping[str, str]:
    """Channel name -> package. What is ours cannot be replaced from outside."""
    ours = {
        module.name: f"{HOME}.{module.name}"
        for module in pkgutil.iter_modules(importlib.import_module(HOME).__path__)
        if module.ispkg
    }
    return {point.name: point.value for point in entry_points(group=GROUP)} | ours


def _config(package: str) -> type[BaseModel] | None:
    """None for a package that is no channel."""
    if find_spec(f"{package}.config") is None:
        return None
    return cast(type[BaseModel], importlib.import_module(f"{package}.config").Config)
