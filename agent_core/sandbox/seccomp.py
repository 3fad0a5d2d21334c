"""System calls that sandboxed commands may not make, as a seccomp filter.

The filter is assembled from a table of rules in the kernel's machine code (struct sock_filter), so that all refusals
are in one place and nothing needs to be built. Calls without a rule are allowed, except those newer than the table.
"""

import errno
import platform
import socket
import struct
from collections.abc import Iterable, Sequence
from functools import cache

from msgspec import Struct

NUMBERS: dict[str, tuple[int | None, int | None]] = {
    # name: x86_64, aarch64
    "acct": (163, 89),
    "add_key": (248, 217),
    "bpf": (321, 280),
    "chmod": (90, None),
    "chown": (92, None),
    "chroot": (161, 51),
    "clone": (56, 220),
    "clone3": (435, 435),
    "creat": (85, None),
    "delete_module": (176, 106),
    "fanotify_init": (300, 262),
    "fanotify_mark": (301, 263),
    "fchmod": (91, 52),
    "fchmodat": (268, 53),
    "fchmodat2": (452, 452),
    "fchown": (93, 55),
    "fchownat": (260, 54),
    "fcntl": (72, 25),
    "finit_module": (313, 273),
    "fremovexattr": (199, 16),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fsetxattr": (190, 7),
    "fsopen": (430, 430),
    "fspick": (433, 433),
    "futimesat": (261, None),
    "init_module": (175, 105),
    "inotify_add_watch": (254, 27),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "io_uring_setup": (425, 425),
    "ioctl": (16, 29),
    "ioprio_set": (251, 30),
    "kcmp": (312, 272),
    "kexec_file_load": (320, 294),
    "kexec_load": (246, 104),
    "keyctl": (250, 219),
    "kill": (62, 129),
    "lchown": (94, None),
    "lremovexattr": (198, 15),
    "lsetxattr": (189, 6),
    "mknod": (133, None),
    "mknodat": (259, 33),
    "mount": (165, 40),
    "mount_setattr": (442, 442),
    "move_mount": (429, 429),
    "mq_open": (240, 180),
    "mq_unlink": (241, 181),
    "msgctl": (71, 187),
    "msgget": (68, 186),
    "msgrcv": (70, 188),
    "msgsnd": (69, 189),
    "open": (2, None),
    "open_by_handle_at": (304, 265),
    "open_tree": (428, 428),
    "openat": (257, 56),
    "openat2": (437, 437),
    "perf_event_open": (298, 241),
    "pidfd_getfd": (438, 438),
    "pidfd_send_signal": (424, 424),
    "pivot_root": (155, 41),
    "prlimit64": (302, 261),
    "process_madvise": (440, 440),
    "process_mrelease": (448, 448),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "ptrace": (101, 117),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    "reboot": (169, 142),
    "removexattr": (197, 14),
    "request_key": (249, 218),
    "rt_sigqueueinfo": (129, 138),
    "rt_tgsigqueueinfo": (297, 240),
    "sched_setaffinity": (203, 122),
    "sched_setattr": (314, 274),
    "sched_setparam": (142, 118),
    "sched_setscheduler": (144, 119),
    "semctl": (66, 191),
    "semget": (64, 190),
    "semop": (65, 193),
    "semtimedop": (220, 192),
    "setns": (308, 268),
    "setpriority": (141, 140),
    "setxattr": (188, 5),
    "shmat": (30, 196),
    "shmctl": (31, 195),
    "shmget": (29, 194),
    "socket": (41, 198),
    "socketpair": (53, 199),
    "swapoff": (168, 225),
    "swapon": (167, 224),
    "syslog": (103, 116),
    "tgkill": (234, 131),
    "tkill": (200, 130),
    "umount2": (166, 39),
    "unshare": (272, 97),
    "userfaultfd": (323, 282),
    "utime": (132, None),
    "utimensat": (280, 88),
    "utimes": (235, None),
}
MACHINES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
"""Column in the table of numbers, and the kernel's constant of the architecture."""

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16
_ALLOW, _ANSWER, _KILL = 0x7FFF0000, 0x00050000, 0x80000000
_X32 = 0x40000000
_UNKNOWN = 463
"""Later calls are newer than this table, whose last one is mseal; programs can do without them."""

_NEW_NAMESPACES = 0x7E020080
"""All flags CLONE_NEW*."""
_SET_ID = 0o6000
_TIOCSTI, _TIOCLINUX = 0x5412, 0x541C
_FIOSETOWN, _SIOCSPGRP = 0x8901, 0x8902
_F_SETOWN, _F_SETOWN_EX = 8, 15

Instruction = tuple[int, int, int, int]
"""Code, instructions to skip if true, instructions to skip if false, value."""


class Rule(Struct, frozen=True):
    """Answers these calls with an errno; 0 pretends success. With `argument`, it applies only if that argument has one
    of the bits, is one of the values, or is none of the values."""

    calls: str
    answer: int = errno.EPERM
    argument: int | None = None
    bits: int = 0
    is_one_of: tuple[int, ...] = ()
    is_none_of: tuple[int, ...] | None = None


ALWAYS = (
    Rule("ptrace process_vm_readv process_vm_writev process_madvise process_mrelease kcmp pidfd_getfd"),
    Rule("mount umount2 pivot_root chroot move_mount open_tree fsopen fsconfig fsmount fspick mount_setattr"),
    Rule("unshare setns"),
    Rule("clone", argument=0, bits=_NEW_NAMESPACES),
    Rule("clone3", errno.ENOSYS),  # its flags are in memory, which filters cannot read; the C library then uses clone
    Rule("bpf perf_event_open userfaultfd io_uring_setup io_uring_enter io_uring_register"),
    Rule("keyctl add_key request_key"),
    Rule("init_module finit_module delete_module kexec_load kexec_file_load reboot swapon swapoff acct syslog"),
    Rule("quotactl quotactl_fd open_by_handle_at fanotify_init fanotify_mark"),
    Rule("openat2", errno.ENOSYS),  # as clone3; other calls that create files follow
)
NO_SET_ID = (
    # Outside the sandbox, such a file would grant the rights of Parley's user.
    Rule("open fchmodat fchmodat2 mknodat", argument=2, bits=_SET_ID),
    Rule("openat", argument=3, bits=_SET_ID),
    Rule("chmod fchmod creat mknod", argument=1, bits=_SET_ID),
)
ONE_NAMESPACE = (
    # Landlock does not cover these calls, which reach other processes and files of the same user. Changes of mode,
    # owner or time pretend success, as on file systems without them, so that cp, tar and git continue. That includes
    # open files, since programs and libraries of the user or root are open for reading.
    Rule("chmod fchmod fchmodat fchmodat2 chown fchown lchown fchownat utime utimes futimesat", answer=0),
    Rule(
        "utimensat", answer=0, argument=1, is_none_of=(0,)
    ),  # without a path: the time of an open file, which is acceptable
    Rule("setxattr lsetxattr fsetxattr removexattr lremovexattr fremovexattr", errno.ENOTSUP),
    Rule("inotify_add_watch", errno.EACCES),
    Rule("prlimit64 sched_setaffinity sched_setattr sched_setparam sched_setscheduler", argument=0, is_none_of=(0,)),
    Rule("setpriority ioprio_set"),
    Rule("shmget shmat shmctl semget semop semtimedop semctl msgget msgsnd msgrcv msgctl mq_open mq_unlink"),
)
NO_SIGNALS = (
    Rule("kill tkill tgkill rt_sigqueueinfo rt_tgsigqueueinfo pidfd_send_signal"),
    Rule("fcntl", argument=1, is_one_of=(_F_SETOWN, _F_SETOWN_EX)),
)


@cache
def bubblewrap_filter(*, network: bool, machine: str | None = None) -> bytes:
    """Return the filter for a command in namespaces of its own. Without network, its loopback is private; with network,
    abstract sockets are those of the machine."""
    families = (socket.AF_INET, socket.AF_INET6) if network else (socket.AF_UNIX, socket.AF_INET, socket.AF_INET6)
    return _program((*ALWAYS, *_terminal(), *NO_SET_ID, *_sockets(*families)), machine)


@cache
def landlock_filter(*, network: bool, scoped: bool, machine: str | None = None) -> bytes:
    """Return the filter for a command in the machine's namespaces.

    Unix sockets could reach services of the machine, so only socket pairs are allowed. `scoped` is True if the kernel
    restricts signals itself.
    """
    families = (socket.AF_INET, socket.AF_INET6) if network else ()
    rules = [*ALWAYS, *ONE_NAMESPACE, *_named_before(NO_SET_ID, ONE_NAMESPACE), *_sockets(*families)]
    if scoped:
        return _program((*rules, *_terminal()), machine)
    return _program((*rules, *NO_SIGNALS, *_terminal(_FIOSETOWN, _SIOCSPGRP)), machine)


def _terminal(*more: int) -> tuple[Rule, ...]:
    return (Rule("ioctl", argument=1, is_one_of=(_TIOCSTI, _TIOCLINUX, *more)),)


def _sockets(*families: int) -> tuple[Rule, ...]:
    """Return rules for sockets. If Unix sockets are refused, so are pairs of kinds that can still send to an
    address."""
    made = Rule("socket", errno.EACCES, argument=0, is_none_of=families)
    if socket.AF_UNIX in families:
        return (made,)
    kinds = (socket.SOCK_STREAM, socket.SOCK_SEQPACKET)
    flags = (0, socket.SOCK_CLOEXEC, socket.SOCK_NONBLOCK, socket.SOCK_CLOEXEC | socket.SOCK_NONBLOCK)
    paired = tuple(kind | flag for kind in kinds for flag in flags)
    return (made, Rule("socketpair", errno.EACCES, argument=1, is_none_of=paired))


def _named_before(rules: Iterable[Rule], before: Sequence[Rule]) -> list[Rule]:
    """Return the rules without calls that have an earlier rule, which wins."""
    known = {call for rule in before for call in rule.calls.split()}
    kept = [
        Rule(" ".join(call for call in rule.calls.split() if call not in known), argument=rule.argument, bits=rule.bits)
        for rule in rules
    ]
    return [rule for rule in kept if rule.calls]


def _program(rules: Iterable[Rule], machine: str | None) -> bytes:
    """Return the filter's code. Raises OSError for an unknown architecture."""
    machine = machine or platform.machine()
    if machine not in MACHINES:
        raise OSError(errno.ENOTSUP, f"there is no filter of system calls for {machine}")
    column, architecture = MACHINES[machine]
    code: list[Instruction] = [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_EQUAL, 1, 0, architecture),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, _NUMBER),
        (_AT_LEAST, 0, 1, _X32),
        (_RETURN, 0, 0, _KILL),
        (_AT_LEAST, 0, 1, _UNKNOWN),
        (_RETURN, 0, 0, _ANSWER | errno.ENOSYS),
    ]
    for rule in rules:
        block = _block(rule)
        for call in rule.calls.split():
            number = NUMBERS[call][column]
            if number is not None:
                code += [(_EQUAL, 0, len(block), number), *block]
    code.append((_RETURN, 0, 0, _ALLOW))
    return b"".join(struct.pack("HBBI", *instruction) for instruction in code)


def _block(rule: Rule) -> list[Instruction]:
    """Return the instructions of a rule after its call matched; they always end in a decision."""
    refuse: Instruction = (_RETURN, 0, 0, _ANSWER | rule.answer)
    allow: Instruction = (_RETURN, 0, 0, _ALLOW)
    if rule.argument is None:
        return [refuse]
    # The lower half is enough for all these arguments.
    load: Instruction = (_LOAD, 0, 0, _ARGUMENTS + 8 * rule.argument)
    if rule.bits:
        return [load, (_ANY_BIT, 0, 1, rule.bits), refuse, allow]
    values, met, otherwise = rule.is_one_of, refuse, allow
    if rule.is_none_of is not None:
        values, met, otherwise = rule.is_none_of, allow, refuse
    tests = [step for value in values for step in ((_EQUAL, 0, 1, value), met)]
    return [load, *tests, otherwise]
