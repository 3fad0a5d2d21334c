"""The system call filters, interpreted here as the kernel does, for both architectures."""

import ctypes
import ctypes.util
import errno
import socket
import struct

import pytest

from agent_core.sandbox.seccomp import ALWAYS, MACHINES, NUMBERS, bubblewrap_filter, landlock_filter

ALLOWED, KILLED, ANSWERED = 0x7FFF0000, 0x80000000, 0x00050000
CLONE_NEWUSER, TIOCSTI, F_SETOWN, F_DUPFD = 0x10000000, 0x5412, 8, 0

machines = pytest.mark.parametrize("machine", MACHINES)
FILTERS = {
    "bubblewrap": lambda machine: bubblewrap_filter(network=False, machine=machine),
    "bubblewrap with network": lambda machine: bubblewrap_filter(network=True, machine=machine),
    "landlock": lambda machine: landlock_filter(network=False, scoped=True, machine=machine),
    "landlock with network": lambda machine: landlock_filter(network=True, scoped=True, machine=machine),
    "unscoped": lambda machine: landlock_filter(network=False, scoped=False, machine=machine),
}


def verdict(program: bytes, architecture: int, number: int, *arguments: int) -> int:
    """Return the filter program's verdict on a system call."""
    data = struct.pack("<IIQ6Q", number, architecture, 0, *arguments, *[0] * (6 - len(arguments)))
    code = list(struct.iter_unpack("<HBBI", program))
    value = place = 0
    while True:
        operation, met, unmet, operand = code[place]
        place += 1
        if operation == 0x20:
            (value,) = struct.unpack_from("<I", data, operand)
        elif operation == 0x06:
            return int(operand)
        else:
            holds = {0x15: value == operand, 0x35: value >= operand, 0x45: value & operand != 0}[operation]
            place += met if holds else unmet


def answer(name: str, machine: str, call: str, *arguments: int) -> int:
    """Return the errno that a call gets, or -1 if it is allowed."""
    column, architecture = MACHINES[machine]
    number = NUMBERS[call][column]
    assert number is not None
    said = verdict(FILTERS[name](machine), architecture, number, *arguments)
    return -1 if said == ALLOWED else said - ANSWERED


@machines
def test_numbers_are_those_of_the_kernel(machine: str) -> None:
    found = ctypes.util.find_library("seccomp")
    if found is None:
        pytest.skip("needs libseccomp, which knows them too")
    column, architecture = MACHINES[machine]
    resolve = ctypes.CDLL(found).seccomp_syscall_resolve_name_arch

    known = {call: resolve(ctypes.c_uint32(architecture), call.encode()) for call in NUMBERS}

    # Negative: the call does not exist here, or the library does not know it yet.
    wrong = {call for call, number in known.items() if number >= 0 and number != NUMBERS[call][column]}
    assert wrong == set()
    assert sum(number >= 0 for number in known.values()) > len(NUMBERS) / 2


@machines
@pytest.mark.parametrize("name", FILTERS)
def test_what_no_command_needs_is_refused_to_all(name: str, machine: str) -> None:
    column, _ = MACHINES[machine]
    calls = {call: rule for rule in ALWAYS if rule.argument is None for call in rule.calls.split()}

    for call, rule in calls.items():
        if NUMBERS[call][column] is not None:
            assert answer(name, machine, call) == rule.answer, call


@machines
@pytest.mark.parametrize("name", FILTERS)
def test_calls_of_another_architecture_kill(name: str, machine: str) -> None:
    program = FILTERS[name](machine)
    _, architecture = MACHINES[machine]
    i386 = 0x40000003

    assert verdict(program, i386, 1) == KILLED
    assert verdict(program, architecture, 0x40000000 + 41) == KILLED  # x32: other call numbers


@machines
@pytest.mark.parametrize("name", FILTERS)
def test_what_is_newer_than_the_table_is_not_there(name: str, machine: str) -> None:
    program = FILTERS[name](machine)
    _, architecture = MACHINES[machine]

    assert verdict(program, architecture, 463) == ANSWERED + errno.ENOSYS
    assert verdict(program, architecture, 462) == ALLOWED


@machines
@pytest.mark.parametrize("name", FILTERS)
def test_processes_are_made_but_no_namespaces(name: str, machine: str) -> None:
    assert answer(name, machine, "clone", 17) == -1
    assert answer(name, machine, "clone", CLONE_NEWUSER | 17) == errno.EPERM
    assert answer(name, machine, "clone", 0x3D0F00) == -1  # a thread
    assert answer(name, machine, "clone3") == errno.ENOSYS


@machines
@pytest.mark.parametrize(
    ("name", "families"),
    [
        ("bubblewrap", {socket.AF_UNIX, socket.AF_INET, socket.AF_INET6}),
        ("bubblewrap with network", {socket.AF_INET, socket.AF_INET6}),
        ("landlock", set()),
        ("landlock with network", {socket.AF_INET, socket.AF_INET6}),
        ("unscoped", set()),
    ],
)
def test_sockets_are_of_the_families_that_lead_nowhere_else(name: str, families: set[int], machine: str) -> None:
    assert {family for family in range(50) if answer(name, machine, "socket", family) == -1} == families


@machines
def test_pairs_of_sockets_are_of_a_kind_that_sends_to_the_other_only(machine: str) -> None:
    def allowed(name: str) -> set[int]:
        return {kind for kind in range(16) if answer(name, machine, "socketpair", socket.AF_UNIX, kind) == -1}

    assert allowed("bubblewrap") == set(range(16))
    for name in FILTERS.keys() - {"bubblewrap"}:
        assert allowed(name) == {socket.SOCK_STREAM, socket.SOCK_SEQPACKET}
        assert answer(name, machine, "socketpair", socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_CLOEXEC) == -1


@machines
@pytest.mark.parametrize("name", FILTERS)
def test_nobody_types_for_somebody_else_or_lends_rights(name: str, machine: str) -> None:
    assert answer(name, machine, "ioctl", 0, TIOCSTI) == errno.EPERM
    assert answer(name, machine, "ioctl", 0, TIOCSTI | 1 << 32) == errno.EPERM  # the kernel ignores the upper half
    assert answer(name, machine, "ioctl", 0, 0x5413) == -1
    assert answer(name, machine, "openat", 0, 0, 0, 0o644) == -1
    assert answer(name, machine, "openat", 0, 0, 0, 0o4755) == errno.EPERM
    assert answer(name, machine, "fchmod", 0, 0o2755) == (errno.EPERM if "bubblewrap" in name else 0)  # 0: not done


@machines
def test_without_namespaces_more_is_refused(machine: str) -> None:
    assert answer("bubblewrap", machine, "fchmodat", 0, 0, 0o644) == -1
    assert answer("landlock", machine, "fchmodat", 0, 0, 0o644) == 0  # answered with success, but nothing is done
    assert answer("landlock", machine, "utimensat", 5, 0) == -1
    assert answer("landlock", machine, "utimensat", 5, 1000) == 0
    assert answer("landlock", machine, "prlimit64", 0) == -1
    assert answer("landlock", machine, "prlimit64", 1) == errno.EPERM
    assert answer("landlock", machine, "setpriority") == errno.EPERM


@machines
def test_signals_are_refused_where_the_kernel_does_not_confine_them(machine: str) -> None:
    for call in ("kill", "tkill", "tgkill", "pidfd_send_signal"):
        assert answer("landlock", machine, call) == -1
        assert answer("unscoped", machine, call) == errno.EPERM
    assert answer("unscoped", machine, "fcntl", 0, F_SETOWN) == errno.EPERM
    assert answer("unscoped", machine, "fcntl", 0, F_DUPFD) == -1


def test_a_machine_that_is_not_known_has_no_filter() -> None:
    with pytest.raises(OSError, match="riscv64"):
        bubblewrap_filter(network=False, machine="riscv64")
