"""Servers that transcribe or speak are named by provider and model, or by address."""

import pytest

from gateway.plugins.voice.audio import OPENAI, AudioServer, audio_server


@pytest.mark.parametrize(
    ("value", "server"),
    [
        ("openai/whisper-1", AudioServer(OPENAI, "whisper-1", "openai", 0.006)),
        ("openai/a-new-model", AudioServer(OPENAI, "a-new-model", "openai", None)),
        ("https://elsewhere.example/v1", AudioServer("https://elsewhere.example/v1", "whisper-1", "own", None)),
        ("http://127.0.0.1:8000/v1", AudioServer("http://127.0.0.1:8000/v1", "whisper-1", "own", 0.0)),
        ("http://[::1]:8000/v1/#a/b", AudioServer("http://[::1]:8000/v1", "a/b", "own", 0.0)),
    ],
)
def test_a_server_is_named_by_provider_or_by_address(value: str, server: AudioServer) -> None:
    assert audio_server(value, "transcription", "own", "openai") == server


@pytest.mark.parametrize("value", ["whisper", "ftp://x", "http://", "anthropic/x", "http://x/v1?key=1"])
def test_other_values_are_refused(value: str) -> None:
    with pytest.raises(ValueError, match="neither openai/MODEL"):
        audio_server(value, "transcription", None, None)
