"""The page is shown to other machines only over TLS, or behind a proxy that is named; else Parley does not start."""

import asyncio
import ssl
import subprocess
from pathlib import Path

import pytest
from aiohttp import ClientSession, CookieJar, TCPConnector
from pydantic import ValidationError

from gateway.errors import SettingsError
from gateway.settings.web import WebSettings
from gateway.web.address import Address
from gateway.web.links import MOST_WRONG
from tests.end_to_end.forks import parley
from tests.entering import sign_in
from tests.page_server import Page, history
from tests.process import SILENT

pytestmark = pytest.mark.both_loops

URL = "https://parley.example"
EVERYWHERE = "0.0.0.0"  # noqa: S104
FORWARDED = {"Host": "parley.example", "X-Forwarded-For": "203.0.113.7", "X-Forwarded-Proto": "https"}


def made(**settings: object) -> Address:
    return Address.of(WebSettings.model_validate(settings))


def certificate(folder: Path) -> tuple[str, str]:
    """Make a certificate for parley.example and 127.0.0.1, signed by itself."""
    names = "subjectAltName=DNS:parley.example,IP:127.0.0.1"
    files = folder / "cert.pem", folder / "key.pem"
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    command += ["-keyout", str(files[1]), "-out", str(files[0]), "-days", "2", "-subj", "/CN=parley", "-addext", names]
    subprocess.run(command, check=True, capture_output=True)  # noqa: S603 - our own words
    return str(files[0]), str(files[1])


@pytest.mark.parametrize(
    "settings",
    [
        {"host": EVERYWHERE},
        {"host": "192.168.1.5"},
        {"host": "::"},
        {"host": EVERYWHERE, "url": URL},
        {"host": EVERYWHERE, "proxy": "10.0.0.1"},
        {"url": URL},
        {"proxy": "127.0.0.1"},
        {"host": EVERYWHERE, "certificate_file": "a", "key_file": "b"},
    ],
    ids=str,
)
def test_what_would_show_the_page_unencrypted_is_refused_with_the_way_to_do_it(settings: dict[str, str]) -> None:
    with pytest.raises(SettingsError) as refused:
        made(**settings)
    assert (
        "Set PARLEY_WEB_URL to its https:// address, and either PARLEY_WEB_CERTIFICATE_FILE" in refused.value.sentence
    )


@pytest.mark.parametrize("settings", [{"certificate_file": "a"}, {"key_file": "b", "url": URL}], ids=str)
def test_a_certificate_without_its_key_is_refused(settings: dict[str, str]) -> None:
    with pytest.raises(SettingsError, match="belong together"):
        made(**settings)


@pytest.mark.parametrize(
    "settings",
    [
        {"url": "http://parley.example"},
        {"url": "https://parley.example/page"},
        {"url": "https://ann@parley.example"},
        {"url": "parley.example"},
        {"host": "example.org"},
        {"host": ""},
        {"proxy": "proxy.example"},
        {"proxy": "10.0.0.1/99"},
    ],
    ids=str,
)
def test_a_value_of_another_form_is_refused(settings: dict[str, str]) -> None:
    with pytest.raises(ValidationError):
        WebSettings.model_validate(settings)


def test_a_certificate_that_cannot_be_read_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "cert.pem").write_text("no certificate")
    address = made(url=URL, certificate_file=tmp_path / "cert.pem", key_file=tmp_path / "key.pem")
    with pytest.raises(SettingsError, match=r"cannot be used \(.+\): name the files in PEM"):
        address.tls()


async def test_parley_does_not_start_with_such_settings_and_says_how(tmp_path: Path) -> None:
    environ = {
        "PARLEY_HOME": str(tmp_path),
        **SILENT,
        "PARLEY_WEB_PORT": "0",
        "PARLEY_WEB_HOST": EVERYWHERE,
    }
    done = await parley("run", cwd=tmp_path, environ=environ)

    assert done.code == 2
    assert done.err.startswith("parley: PARLEY_WEB_HOST=0.0.0.0 would show the page to other machines unencrypted.")


async def test_over_tls_the_page_answers_to_its_name_with_secure_cookies(tmp_path: Path) -> None:
    files = certificate(tmp_path)
    page = Page(tmp_path, address=Address(url=URL, certificate=files))
    trust = ssl.create_default_context(cafile=files[0])
    async with page.open():
        base = f"https://127.0.0.1:{page.server.port}/"
        assert page.server.link.startswith(f"{URL}/?token=")
        async with ClientSession(base, connector=TCPConnector(ssl=trust), headers={"Host": "parley.example"}) as client:
            token = page.server.link.partition("=")[2]
            async with client.post("/sign-in", data={"token": token}, allow_redirects=False) as answer:
                cookie = answer.headers["Set-Cookie"]
                assert answer.headers["Strict-Transport-Security"] == "max-age=31536000"
            assert cookie.startswith("__Host-parley=")
            assert "Secure" in cookie
            headers = {"Cookie": cookie.partition(";")[0]}
            async with client.get("/", headers=headers) as answer:
                assert answer.status == 200
            async with client.get("/", headers={**headers, "Host": "evil.example"}) as answer:
                assert answer.status == 403
            async with client.get("/", headers={**headers, "Origin": "https://evil.example"}) as answer:
                assert answer.status == 403
        reader, writer = await asyncio.open_connection("127.0.0.1", page.server.port)
        writer.write(b"GET / HTTP/1.1\r\nHost: parley.example\r\n\r\n")  # without TLS
        assert b"200" not in await reader.read(100)
        writer.close()


def proxied(page: Page) -> ClientSession:
    return ClientSession(f"http://127.0.0.1:{page.server.port}/", headers=FORWARDED)


@pytest.fixture
def behind(tmp_path: Path) -> Page:
    """A page behind a proxy on this machine."""
    return Page(tmp_path, address=made(url=URL, proxy="127.0.0.1"))


async def test_behind_the_named_proxy_the_public_name_works_and_the_cookie_is_secure(behind: Page) -> None:
    async with behind.open(), proxied(behind) as client:
        token = behind.server.link.partition("=")[2]
        async with client.post("/sign-in", data={"token": token}, allow_redirects=False) as answer:
            cookie = answer.headers["Set-Cookie"]
        assert cookie.startswith("__Host-parley=")
        assert "Secure" in cookie
        async with client.get("/", headers={"Cookie": cookie.partition(";")[0]}) as answer:
            assert answer.status == 200
        [browser] = behind.server.access.sessions.all
        assert browser.place == "203.0.113.7"


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"X-Forwarded-Host": "evil.example"},
        {"X-Forwarded-Proto": "http"},
        {"Host": "127.0.0.1"},
    ],
    ids=str,
)
async def test_behind_the_proxy_other_names_and_plain_http_are_refused(behind: Page, headers: dict[str, str]) -> None:
    async with behind.open(), proxied(behind) as client, client.get("/", headers=headers) as answer:
        assert answer.status == 403
        assert "refused: this page answers only" in await answer.text()


async def test_what_a_client_puts_before_the_proxys_word_does_not_count(behind: Page) -> None:
    async with behind.open(), proxied(behind) as client:
        for made_up in range(MOST_WRONG + 1):
            headers = {"X-Forwarded-For": f"198.51.100.{made_up}, 203.0.113.7"}
            async with client.get("/?token=x", headers=headers) as answer:
                assert answer.status == (429 if made_up == MOST_WRONG else 403)
        right = behind.server.link.partition("=")[2]
        async with client.get(f"/?token={right}") as answer:
            assert answer.status == 429, "an address of the network waits, whatever it brings"
        async with client.get(f"/?token={right}", headers={"X-Forwarded-For": "203.0.113.8"}) as answer:
            assert answer.status == 200


async def test_headers_of_a_proxy_that_is_not_named_are_refused(tmp_path: Path) -> None:
    page = Page(tmp_path, address=made(url=URL, proxy="10.1.2.3"))
    async with page.open(), proxied(page) as client:
        for headers in ({}, {"Host": f"127.0.0.1:{page.server.port}"}):
            async with client.get("/", headers=headers) as answer:
                assert answer.status == 403
                assert "answers only" in await answer.text()


async def test_beside_the_proxy_this_machine_still_reaches_the_page_itself(behind: Page) -> None:
    async with behind.open():
        base = f"http://127.0.0.1:{behind.server.port}/"
        async with ClientSession(base, cookie_jar=CookieJar(unsafe=True)) as client:
            await sign_in(client, f"{base}?token={behind.server.link.partition('=')[2]}")
            assert (await history(client))["messages"] == []
