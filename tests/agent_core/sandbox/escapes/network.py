"""Connections to listeners on this machine or others."""

import socket

from tests.agent_core.sandbox.escapes.frame import OUTSIDE, WORLD, probe

BLUETOOTH, XDP = 31, 44
"""Address families, which not every Python defines."""


@probe
def tcp() -> str:
    socket.create_connection(("127.0.0.1", int(WORLD["tcp"])), 2).close()
    return "connected"


@probe
def udp() -> str:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sender.sendto(b"out", ("127.0.0.1", int(WORLD["udp"])))
    return ""  # the outside process checks whether it arrived


@probe
def abstract_unix() -> str:
    with socket.socket(socket.AF_UNIX) as client:
        client.connect("\0" + WORLD["abstract"])
    return "connected"


@probe
def unix_in_a_file() -> str:
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(str(OUTSIDE / "socket"))
    return "connected"


@probe
def datagrams_of_a_pair() -> str:
    """Send through a socket pair, whose ends can still send to any name."""
    ours, _ = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    ours.sendto(b"out", str(OUTSIDE / "mailbox"))
    return ""  # the outside process checks whether it arrived


@probe
def odd_sockets() -> str:
    made = []
    for family in (socket.AF_NETLINK, socket.AF_PACKET, socket.AF_VSOCK, socket.AF_ALG, BLUETOOTH, XDP):
        for kind in (socket.SOCK_RAW, socket.SOCK_STREAM, socket.SOCK_SEQPACKET):
            try:
                socket.socket(family, kind).close()
                made.append(int(family))
            except OSError:
                continue
    return f"made sockets of {made}" if made else ""
