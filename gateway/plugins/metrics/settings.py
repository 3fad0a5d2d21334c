"""The settings of the metrics plugin."""

from typing import Annotated

from pydantic import SecretStr

from gateway.settings.plugin_settings import About, PluginSettings


class MetricsSettings(PluginSettings):
    """The settings of the metrics plugin."""

    token: Annotated[
        SecretStr | None,
        About(
            en="Bearer token that /metrics asks for. Empty: every program on this machine may read the metrics.",
            zh="/metrics 要求的 Bearer 令牌。留空：本机上的任何程序都可以读取指标。",
            formerly=("web", "metrics_token"),
        ),
    ] = None


SETTINGS = MetricsSettings
