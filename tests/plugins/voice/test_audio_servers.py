"""Servers that transcribe or speak: how they are named, and answers that are no transcript and no audio."""

from collections.abc import Mapping, Sequence

import pytest
from aiohttp import web

from gateway.plugins.voice.audio import OPENAI, AudioClient, AudioFailed, AudioServer, audio_server
from parley.testing.emulators.server import LoopbackServer


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


class Odd(LoopbackServer):
    """Gives every request the same answer, and counts them."""

    def __init__(self, status: int, body: bytes, headers: Mapping[str, str]) -> None:
        super().__init__()
        self.status, self.body, self.headers = status, body, headers
        self.asked = 0

    def routes(self) -> Sequence[web.RouteDef]:
        return [web.post("/{path:.*}", self._answer)]

    async def _answer(self, request: web.Request) -> web.Response:
        self.asked += 1
        await request.read()
        return web.Response(status=self.status, body=self.body, headers=self.headers)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_no_recording_and_no_key_is_taken_to_another_server(status: int) -> None:
    async with Odd(200, b'{"text": "heard elsewhere"}', {}) as other:
        place = f"{other.url}/v1/audio/transcriptions"
        async with Odd(status, b"", {"Location": place}) as server:
            client = AudioClient(AudioServer(f"{server.url}/v1", "whisper-1", "sk-secret"))
            with pytest.raises(AudioFailed, match=f"the server redirects to {place}"):
                await client.transcribe(b"sound", "voice.ogg", "audio/ogg")

    assert (server.asked, other.asked) == (1, 0)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b'{"error": {"message": "Out of credits, sk-secret"}}', r" \(Out of credits, \*\*\*\)"),
        (b"<html><title>Sign in</title></html>", r" \(Sign in\)"),
        (b"", ""),
    ],
)
async def test_what_is_no_audio_and_no_transcript_is_told_in_its_words(body: bytes, words: str) -> None:
    async with Odd(200, body, {"Content-Type": "audio/mpeg"}) as server:
        client = AudioClient(AudioServer(f"{server.url}/v1", "tts-1", "sk-secret"))
        with pytest.raises(AudioFailed, match=f"^the server sent no audio{words}$"):
            await client.speak("Hello")
        with pytest.raises(AudioFailed, match=f"^the server sent no transcript{words}$"):
            await client.transcribe(b"sound", "voice.ogg", "audio/ogg")
