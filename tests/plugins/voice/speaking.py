"""The plugin with a server of the test, whose price is known."""

from agent_core.models.audio import AudioServer
from gateway.plugins.voice.plugin import Voice
from tests.emulators.audio import AudioEmulator


def speaking(audio: AudioEmulator, model: str = "tts-1", price: float | None = None) -> type[Voice]:
    """Return the plugin that speaks with a model of this server, whatever the settings say.

    `price` is that of a million characters; None if it is not known.
    """

    class Speaking(Voice):
        def server(self) -> AudioServer:
            return AudioServer(audio.base_url, model, price=price)

    return Speaking
