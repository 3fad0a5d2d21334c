"""The settings of channels, which are configured if their first required secret is set."""

from collections.abc import Iterator, Mapping

from pydantic import BaseModel, ValidationError

from channels import discovery
from channels.checkup import Finding, problem
from gateway.errors import Refusals
from gateway.settings.errors import refused
from gateway.settings.secret_values import SECRET_NAME
from gateway.settings.sources import Layer, Names

Configs = Mapping[str, type[BaseModel]]
"""The classes of the settings, by channel."""


def channel_settings(
    configs: Configs, merged: Layer, names: Names, refusals: Refusals
) -> Iterator[tuple[str, BaseModel]]:
    """Yield the settings of each configured channel; values that are refused are noted."""
    for channel, config in configs.items():
        mine = {key: entry for key, entry in merged.items() if key[0] == channel}
        secret = discovery.required_secret(config)
        if (channel, secret) not in mine if secret else not mine:
            continue
        try:
            yield channel, config.model_validate({key[1]: entry.value for key, entry in mine.items()})
        except ValidationError as error:
            refusals.note(refused(error, mine, names, channel))


def useless(configs: Configs, merged: Layer) -> Iterator[Finding]:
    """Yield secrets of a channel that is not opened because its first required secret is missing."""
    for channel, config in configs.items():
        needed = discovery.required_secret(config)
        if needed is None or (channel, needed) in merged:
            continue
        name = f"{channel}_{needed}".upper()
        for key, entry in merged.items():
            if key[0] == channel and SECRET_NAME.search(key[-1].upper()):
                yield problem(
                    f"{entry.place} is of no use without {name}: {channel} stays closed",
                    f"set {name} too, or take that out",
                )
