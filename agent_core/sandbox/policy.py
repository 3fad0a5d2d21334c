"""Which system calls a command that is shut in may not make: a filter that the kernel runs before each of them.

The filter is assembled here from a table of rules, in the machine code that seccomp takes (struct sock_filter), so that
what is refused can be read in one place and nothing has to be built. What stands in no rule is allowed, but for calls
that are newer than the table.
"""

import errno
import platform
import socket
import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache

from agent_core.sandbox.syscalls import NUMBERS

MACHINES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
"""The column of the table of numbers, and what the kernel calls the architecture."""

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16
_ALLOW, _ANSWER, _KILL = 0x7FFF0000, 0x00050000, 0x80000000
_X32 = 0x40000000
_UNKNOWN = 463
"""From here on calls are newer than this table (mseal is the last it was made from): programs do without them."""

_NEW_NAMESPACES = 0x7E020080
"""All of CLONE_NEW*."""
_SET_ID = 0o6000
_TIOCSTI, _TIOCLINUX = 0x5412, 0x541C
_FIOSETOWN, _SIOCSPGRP = 0x8901, 0x8902
_F_SETOWN, _F_SETOWN_EX = 8, 15

Instruction = tuple[int, int, int, int]
"""Code, how many to skip if true, how many if false, value."""


@dataclass(frozen=True)
class Rule:
    """These calls are answered with this error, 0 for doing nothing and saying that it was done. With an `argument`
    only where it has one of the bits, is one of the values, or is something else than all of them."""

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
    Rule("clone3", errno.ENOSYS),  # its flags lie in memory, where no filter can look; the C library then takes clone
    Rule("bpf perf_event_open userfaultfd io_uring_setup io_uring_enter io_uring_register"),
    Rule("keyctl add_key request_key"),
    Rule("init_module finit_module delete_module kexec_load kexec_file_load reboot swapon swapoff acct syslog"),
    Rule("quotactl quotactl_fd open_by_handle_at fanotify_init fanotify_mark"),
    Rule("openat2", errno.ENOSYS),  # as clone3; the others that make files come next
)
NO_SET_ID = (
    # Outside, such a file would lend out the rights of whoever runs Parley.
    Rule("open fchmodat fchmodat2 mknodat", argument=2, bits=_SET_ID),
    Rule("openat", argument=3, bits=_SET_ID),
    Rule("chmod fchmod creat mknod", argument=1, bits=_SET_ID),
)
ONE_NAMESPACE = (
    # Landlock asks for none of these, and they reach what lies outside, of the same user. A change of mode, owner or
    # time is passed over in silence, as by file systems that have none: cp, tar and git go on then. Those of an open
    # file too: programs and libraries are open to be read, and are the user's own, or root's.
    Rule("chmod fchmod fchmodat fchmodat2 chown fchown lchown fchownat utime utimes futimesat", answer=0),
    Rule(
        "utimensat", answer=0, argument=1, is_none_of=(0,)
    ),  # with no path: the time of an open file, which is bearable
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
    """For a command in namespaces of its own. Without network its loopback is its own too; with it, abstract sockets
    are the machine's."""
    families = (socket.AF_INET, socket.AF_INET6) if network else (socket.AF_UNIX, socket.AF_INET, socket.AF_INET6)
    return _program((*ALWAYS, *_terminal(), *NO_SET_ID, *_sockets(*families)), machine)


@cache
def landlock_filter(*, network: bool, scoped: bool, machine: str | None = None) -> bytes:
    """For a command that shares the machine's namespaces. Sockets in files would lead to whoever listens there, so
    that it may have pairs only. `scoped`: the kernel confines its signals by itself."""
    families = (socket.AF_INET, socket.AF_INET6) if network else ()
    rules = [*ALWAYS, *ONE_NAMESPACE, *_named_before(NO_SET_ID, ONE_NAMESPACE), *_sockets(*families)]
    if scoped:
        return _program((*rules, *_terminal()), machine)
    return _program((*rules, *NO_SIGNALS, *_terminal(_FIOSETOWN, _SIOCSPGRP)), machine)


def _terminal(*more: int) -> tuple[Rule, ...]:
    return (Rule("ioctl", argument=1, is_one_of=(_TIOCSTI, _TIOCLINUX, *more)),)


def _sockets(*families: int) -> tuple[Rule, ...]:
    """Where sockets with names are refused, so are pairs of a kind that can still send to a name."""
    made = Rule("socket", errno.EACCES, argument=0, is_none_of=families)
    if socket.AF_UNIX in families:
        return (made,)
    kinds = (socket.SOCK_STREAM, socket.SOCK_SEQPACKET)
    flags = (0, socket.SOCK_CLOEXEC, socket.SOCK_NONBLOCK, socket.SOCK_CLOEXEC | socket.SOCK_NONBLOCK)
    paired = tuple(kind | flag for kind in kinds for flag in flags)
    return (made, Rule("socketpair", errno.EACCES, argument=1, is_none_of=paired))


def _named_before(rules: Iterable[Rule], before: Sequence[Rule]) -> list[Rule]:
    """Without the calls that have a rule already: the first one answers."""
    known = {call for rule in before for call in rule.calls.split()}
    kept = [
        Rule(" ".join(call for call in rule.calls.split() if call not in known), argument=rule.argument, bits=rule.bits)
        for rule in rules
    ]
    return [rule for rule in kept if rule.calls]


def _program(rules: Iterable[Rule], machine: str | None) -> bytes:
    """Raises OSError for a machine whose numbers are not known."""
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
    """What is done once the call is known; it always ends in an answer."""
    refuse: Instruction = (_RETURN, 0, 0, _ANSWER | rule.answer)
    allow: Instruction = (_RETURN, 0, 0, _ALLOW)
    if rule.argument is None:
        return [refuse]
    # The lower half: the kernel takes no more of any of these.
    load: Instruction = (_LOAD, 0, 0, _ARGUMENTS + 8 * rule.argument)
    if rule.bits:
        return [load, (_ANY_BIT, 0, 1, rule.bits), refuse, allow]
    values, met, otherwise = rule.is_one_of, refuse, allow
    if rule.is_none_of is not None:
        values, met, otherwise = rule.is_none_of, allow, refuse
    tests = [step for value in values for step in ((_EQUAL, 0, 1, value), met)]
    return [load, *tests, otherwise]
