"""The settings of the voice plugin: the servers that transcribe and speak."""

from typing import Annotated

from pydantic import AfterValidator, SecretStr

from gateway.plugins.voice.audio import audio_server
from gateway.settings.plugin_settings import About, PluginSettings


def _named(value: str) -> str:
    """Return the value if it names a server. Raises ValueError."""
    audio_server(value, "speech", None, None)
    return value


Server = Annotated[str, AfterValidator(_named)]


class VoiceSettings(PluginSettings):
    """The settings of the voice plugin."""

    transcription: Annotated[
        Server | None,
        About(
            en="Transcription of voice messages: openai/whisper-1, which needs OPENAI_API_KEY, or the address of a "
            "whisper server and a model, such as http://127.0.0.1:8000/v1#whisper-1. Empty: they are not transcribed.",
            zh="语音消息转文字：openai/whisper-1（需要 OPENAI_API_KEY），或 whisper 服务器的地址和模型，"
            "如 http://127.0.0.1:8000/v1#whisper-1。留空：不转写。",
            formerly=("transcription",),
        ),
    ] = None
    speech: Annotated[
        Server | None,
        About(
            en="Spoken answers for chats that ask for them with /voice: openai/tts-1 or an address, written the same "
            "way. Empty: none.",
            zh="为用 /voice 开启的聊天朗读回答：openai/tts-1，或地址，写法相同。留空：不朗读。",
            formerly=("speech",),
        ),
    ] = None
    key: Annotated[
        SecretStr | None,
        About(
            en="Key for these two where they are given by their address.",
            zh="以上两项填写地址时所用的密钥。",
            formerly=("audio_key",),
        ),
    ] = None


SETTINGS = VoiceSettings
