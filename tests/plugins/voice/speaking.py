"""The plugin with servers of the test, whose prices are known."""

from gateway.plugins.voice.audio import AudioServer
from gateway.plugins.voice.plugin import Use, Voice
from tests.plugins.voice.audio_emulator import AudioEmulator


def served(**servers: AudioServer) -> type[Voice]:
    """Return the plugin with a server for each use that is named, whatever the settings say."""

    class Served(Voice):
        __module__ = Voice.__module__  # one of ours, whose tables the core has made before

        def server(self, use: Use) -> AudioServer | None:
            return servers.get(use)

    return Served


def speaking(audio: AudioEmulator, model: str = "tts-1", price: float | None = None) -> type[Voice]:
    """Return the plugin that speaks with a model of this server.

    `price` is that of a million characters; None if it is not known.
    """
    return served(speech=AudioServer(audio.base_url, model, price=price))
