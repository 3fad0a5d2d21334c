"""The servers of voice are set at the start, under their former names too, and from no chat."""

from pathlib import Path

import pytest

from gateway.errors import ParleyError
from gateway.plugins.voice.audio import OPENAI
from gateway.plugins.voice.plugin import Use, Voice
from gateway.settings.settings import load_settings
from tests.gateway.bot import Bot
from tests.gateway.conftest import StartBot


def voice_of(bot: Bot) -> Voice:
    return next(each for each in bot.made.plugins if isinstance(each, Voice))


@pytest.mark.parametrize("prefix", ["PARLEY_PLUGIN_VOICE_", "PARLEY_"], ids=["now", "formerly"])
@pytest.mark.parametrize("use", ["transcription", "speech"])
async def test_a_server_and_its_key_are_set(start_bot: StartBot, tmp_path: Path, prefix: str, use: Use) -> None:
    key = "PARLEY_PLUGIN_VOICE_KEY" if "PLUGIN" in prefix else "PARLEY_AUDIO_KEY"
    given = {f"{prefix}{use.upper()}": "https://audio.example/v1#big", key: "the-audio-key"}
    loaded = load_settings({"PARLEY_HOME": str(tmp_path), **given}, tmp_path)

    bot = await start_bot(loaded=loaded)

    server = voice_of(bot).server(use)
    assert server is not None
    assert (server.base_url, server.model, server.key) == ("https://audio.example/v1", "big", "the-audio-key")
    assert loaded.secrets.are_in("the-audio-key")
    assert len(loaded.warnings) == (0 if "PLUGIN" in prefix else 2)


async def test_the_key_of_openai_is_used_for_its_servers(start_bot: StartBot, tmp_path: Path) -> None:
    given = {"PARLEY_PLUGIN_VOICE_SPEECH": "openai/tts-1", "OPENAI_API_KEY": "sk-of-openai"}
    bot = await start_bot(loaded=load_settings({"PARLEY_HOME": str(tmp_path), **given}, tmp_path))

    server = voice_of(bot).server("speech")
    assert server is not None
    assert (server.base_url, server.key) == (OPENAI, "sk-of-openai")
    assert voice_of(bot).server("transcription") is None


def test_a_value_that_names_no_server_stops_the_start(tmp_path: Path) -> None:
    with pytest.raises(ParleyError, match="neither openai/MODEL"):
        load_settings({"PARLEY_HOME": str(tmp_path), "PARLEY_PLUGIN_VOICE_SPEECH": "whisper"}, tmp_path)


@pytest.mark.parametrize("name", ["plugin.voice_speech", "plugin.voice_transcription", "PARLEY_PLUGIN_VOICE_SPEECH"])
async def test_no_chat_sends_recordings_to_another_server(start_bot: StartBot, name: str) -> None:
    bot = await start_bot()

    await bot.hears(f"/config set {name} http://evil.example/v1")

    assert not any(b"evil.example" in file.read_bytes() for file in bot.home.glob("*.toml"))
    await bot.hears("/config more")
    assert "evil.example" not in bot.screen[-1]
