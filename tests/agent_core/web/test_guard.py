"""No spelling, name or redirect leads the agent to this machine or its network; a real listener counts connections."""

from ipaddress import ip_address

import pytest

from agent_core.tools.tool import ToolFailed
from agent_core.tools.web.fetch import Address, Fetcher, MayReach, is_public, public_web
from tests.agent_core.web.site import Names, Site, moved, trap

SPELLINGS = (
    "127.0.0.1",
    "127.1",
    "127.0.1",
    "2130706433",
    "0x7f000001",
    "0x7f.0x0.0x0.0x1",
    "0177.0.0.1",
    "017700000001",
    "0",
    "0.0.0.0",  # noqa: S104 - to be refused
    "127。0。0。1",
    "１２７.0.0.1",
    "①②⑦.⓪.⓪.①",
    "%31%32%37.0.0.1",
    "127.0.0.1.",
    "127.127.127.127",
    "[::1]",
    "[::]",
    "[0:0:0:0:0:0:0:1]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[::127.0.0.1]",
    "[64:ff9b::127.0.0.1]",
    "[2002:7f00:1::]",
    "[fe80::1%25lo]",
    "localhost",
    "LocalHost",
    "localhost.",
    "ｌocalhost",
    "127.0.0.1.nip.test",
    "both.test",
    "mapped.test",
)
REACHED_UNGUARDED = ("127.0.0.1", "0x7f000001", "127。0。0。1", "localhost", "[::ffff:127.0.0.1]", "127.0.0.1.nip.test")


class AnyNames(Names):
    """The system's names, and test names as an attacker's DNS server would answer them."""

    def __init__(self) -> None:
        super().__init__(
            **{
                "127_0_0_1_nip_test": [["127.0.0.1"]],
                "both_test": [["8.8.8.8", "127.0.0.1"]],
                "mapped_test": [["::ffff:127.0.0.1"]],
                "localhost": [["127.0.0.1", "::1"]],
                "localhost_": [["127.0.0.1", "::1"]],
                "0x7f000001": [["127.0.0.1"]],
                "0x7f_0x0_0x0_0x1": [["127.0.0.1"]],
                "127_0_0_1_": [["127.0.0.1"]],
            }
        )


def on_any_port(address: Address, _: int) -> bool:
    """Return True for a public address on any port, so that only the address can be refused."""
    return is_public(address)


def anywhere(_address: Address, _port: int) -> bool:
    return True


async def refused(fetcher: Fetcher, url: str) -> bool:
    try:
        await fetcher.get(url)
    except ToolFailed:
        return True
    return False


@pytest.mark.parametrize("guard", [on_any_port, public_web])
async def test_no_spelling_of_loopback_reaches_a_listener(guard: MayReach) -> None:
    async with trap() as caught:
        for resolver in (AnyNames(), None):
            for spelling in SPELLINGS:
                assert await refused(Fetcher(guard, resolver), f"http://{spelling}:{caught.port}/"), spelling

        assert caught.connections == 0


async def test_no_redirect_to_a_spelling_of_loopback_reaches_a_listener() -> None:
    async with Site() as site, trap() as caught:

        def here_or_public(address: Address, port: int) -> bool:
            return site.may_reach(address, port) or is_public(address)

        fetcher = Fetcher(here_or_public, AnyNames())
        for status in (301, 302, 303, 307, 308):
            for spelling in SPELLINGS:
                site.pages["/"] = moved(f"http://{spelling}:{caught.port}/", status)
                assert await refused(fetcher, f"{site.url}/"), spelling
        site.pages["/"] = moved(f"//127.0.0.1:{caught.port}/")
        assert await refused(fetcher, f"{site.url}/")

        assert caught.connections == 0
        assert len(site.calls) == 5 * len(SPELLINGS) + 1


async def test_without_the_guard_these_spellings_do_reach_it() -> None:
    """Shows that the tests above would notice a missing guard."""
    async with trap() as caught:
        for spelling in REACHED_UNGUARDED:
            found = await Fetcher(anywhere, AnyNames()).get(f"http://{spelling}:{caught.port}/")
            assert found.body == b"secret", spelling

        assert caught.connections >= len(REACHED_UNGUARDED), "the second address of a name may be tried, too"


async def test_a_name_is_resolved_once_for_each_connection_and_vetted_each_time() -> None:
    async with Site({"/": "<p>the page"}) as site:
        names = Names(rebind_test=[["127.0.0.1"], ["127.0.0.2"]])

        def only_the_first(address: Address, port: int) -> bool:
            return str(address) == "127.0.0.1" and port == site.port_open

        fetcher = Fetcher(only_the_first, names)

        assert b"the page" in (await fetcher.get(f"http://rebind.test:{site.port_open}/")).body
        assert names.asked == ["rebind.test"]
        assert await refused(fetcher, f"http://rebind.test:{site.port_open}/")
        assert names.asked == ["rebind.test", "rebind.test"]
        assert len(site.calls) == 1


async def test_a_redirect_to_the_same_name_is_vetted_anew() -> None:
    async with Site() as site:
        site.pages["/"] = moved("/next")
        names = Names(rebind_test=[["127.0.0.1"], ["127.0.0.2"]])

        def only_the_first(address: Address, port: int) -> bool:
            return str(address) == "127.0.0.1" and port == site.port_open

        with pytest.raises(ToolFailed, match="private or special address"):
            await Fetcher(only_the_first, names).get(f"http://rebind.test:{site.port_open}/")
        assert [call.method for call in site.calls] == ["/"]


@pytest.mark.parametrize(
    "address",
    [
        *("0.0.0.1", "0.1.2.3", "10.0.0.1", "100.64.0.1", "100.100.100.200", "127.0.0.1", "127.255.255.254"),
        *("169.254.169.254", "172.16.0.1", "192.0.0.8", "192.0.0.9", "192.0.0.192", "192.0.2.1", "192.88.99.1"),
        *("192.168.1.1", "198.18.0.1", "198.51.100.1", "203.0.113.1", "224.0.0.1", "239.1.1.1", "240.0.0.1"),
        *("255.255.255.255", "168.63.129.16"),
        *("::", "::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::127.0.0.1", "::8.8.8.8", "64:ff9b::8.8.8.8"),
        *("64:ff9b:1::1", "100::1", "2001::1", "2001:db8::1", "2002:808:808::1", "3fff::1", "5f00::1", "fc00::1"),
        *("fd00:ec2::254", "fe80::1", "fe80::1%eth0", "fec0::1", "ff02::1", "ff0e::1", "4000::1"),
    ],
)
def test_an_address_that_is_not_of_the_open_internet_is_refused(address: str) -> None:
    assert not is_public(ip_address(address))


@pytest.mark.parametrize("address", ["8.8.8.8", "93.184.216.34", "192.0.1.1", "2606:4700::1111", "::ffff:8.8.8.8"])
def test_an_address_of_the_open_internet_is_allowed_at_the_ports_of_the_web_alone(address: str) -> None:
    assert public_web(ip_address(address), 443)
    assert public_web(ip_address(address), 80)
    assert not public_web(ip_address(address), 22)
    assert not public_web(ip_address(address), 8080)
