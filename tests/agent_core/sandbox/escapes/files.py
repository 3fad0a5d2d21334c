"""Access to files outside of the command's: reading, writing, changing metadata."""

import os
import stat
import struct
from pathlib import Path

from tests.agent_core.sandbox.escapes.frame import HOME, OUTSIDE, SECRET, SLEEPER, WORLD, call, libc, probe, reads


@probe
def read_env_file() -> str:
    return reads(HOME / ".env", SECRET)


@probe
def read_store() -> str:
    return reads(HOME / "parley.db")


@probe
def list_home() -> str:
    return "listed the home" if HOME / ".env" in HOME.iterdir() else ""


@probe
def read_shadow() -> str:
    return reads("/etc/shadow")


@probe
def read_outside() -> str:
    return reads(OUTSIDE / "file")


@probe
def read_root() -> str:
    for name in (".bashrc", ".profile", ".bash_history"):
        try:
            return reads(Path(WORLD["root"], name))
        except OSError:
            continue
    return ""


@probe
def write_usr() -> str:
    path = Path("/usr/parley-escape")
    path.write_text("x")
    path.unlink()
    return "wrote to /usr"


@probe
def write_outside() -> str:
    (OUTSIDE / "file").open("r+").close()
    return "opened a file for writing"


@probe
def make_outside() -> str:
    (OUTSIDE / "made").write_text("x")
    return ""  # the sandbox may have a folder of that name; the outside process checks whether the file exists


@probe
def remove_outside() -> str:
    (OUTSIDE / "victim").unlink()
    return "removed a file"


@probe
def rename_from_outside() -> str:
    (OUTSIDE / "victim").rename("stolen")
    return "moved a file"


@probe
def truncate_outside() -> str:
    os.truncate(OUTSIDE / "file", 0)
    return "truncated a file"


@probe
def chmod_outside() -> str:
    (OUTSIDE / "file").chmod(0o777)
    return "changed a mode" if (OUTSIDE / "file").stat().st_mode & 0o777 == 0o777 else ""


@probe
def touch_outside() -> str:
    os.utime(OUTSIDE / "file", (1, 1))
    return "changed a time" if (OUTSIDE / "file").stat().st_mtime == 1 else ""


@probe
def attribute_outside() -> str:
    os.setxattr(OUTSIDE / "file", "user.parley", b"x")
    return "set an attribute"


@probe
def symlink() -> str:
    link = Path("link")
    link.symlink_to(OUTSIDE / "file")
    return reads(link)


@probe
def symlink_planted() -> str:
    return reads("planted-link", SECRET)


@probe
def hard_link() -> str:
    os.link(OUTSIDE / "file", "hard")
    return "linked a file"


@probe
def proc_root() -> str:
    return reads(f"/proc/self/root{HOME}/.env", SECRET)


@probe
def proc_root_of_others() -> str:
    for place in (f"/proc/{SLEEPER}/root", "/proc/1/root", f"/proc/{SLEEPER}/cwd/../../../../../../../../.."):
        try:
            return reads(f"{place}{HOME}/.env", SECRET)
        except OSError:
            continue
    return ""


@probe
def fifo_outside() -> str:
    os.close(os.open(OUTSIDE / "fifo", os.O_RDWR | os.O_NONBLOCK))
    return "opened a FIFO"


@probe
def by_handle() -> str:
    """Open by handle, which needs no path and, with the privilege, reaches any file of the disk."""
    handle = struct.pack("Ii", 8, 1) + struct.pack("II", 2, 0) + bytes(112)
    call(304, 265, os.open(".", os.O_RDONLY), handle, os.O_RDONLY)
    return "opened by handle"


@probe
def set_id_file() -> str:
    path = Path("set-id")
    path.write_text("x")
    path.chmod(0o4755)
    return "made a file that lends rights" if path.stat().st_mode & stat.S_ISUID else ""


@probe
def set_id_by_open() -> str:
    os.close(os.open("set-id-open", os.O_CREAT | os.O_WRONLY, 0o4755))
    return "made a file that lends rights" if Path("set-id-open").stat().st_mode & stat.S_ISUID else ""


@probe
def device() -> str:
    os.mknod("disk", stat.S_IFBLK | 0o600, os.makedev(254, 0))
    return "made a device"


@probe
def devices() -> str:
    opened = []
    for path in (
        "/dev/vda",
        "/dev/sda",
        "/dev/nvme0n1",
        "/dev/mem",
        "/dev/kmsg",
        "/dev/kvm",
        "/dev/fuse",
        "/dev/ptmx1",
    ):
        try:
            os.close(os.open(path, os.O_RDONLY | os.O_NONBLOCK))
            opened.append(path)
        except OSError:
            continue
    return f"opened {opened}" if opened else ""


@probe
def kernel_settings() -> str:
    opened = []
    for path in ("/proc/sysrq-trigger", "/proc/sys/kernel/core_pattern", "/sys/kernel/uevent_helper", "/proc/kcore"):
        try:
            os.close(os.open(path, os.O_RDONLY if path.endswith("kcore") else os.O_WRONLY))
            opened.append(path)
        except OSError:
            continue
    return f"opened {opened}" if opened else ""


@probe
def control_group() -> str:
    for path in ("/sys/fs/cgroup/pids/cgroup.procs", "/sys/fs/cgroup/cgroup.procs"):
        try:
            os.close(os.open(path, os.O_WRONLY))
        except OSError:
            continue
        return f"could leave its control group by {path}"
    return ""


@probe
def watch_outside() -> str:
    watching = libc.inotify_init()
    if libc.inotify_add_watch(watching, bytes(OUTSIDE / "file"), 0xFFF) < 0:
        raise OSError
    return "watched a file"


@probe
def change_readable() -> str:
    (Path(WORLD["readable"]) / "SKILL.md").write_text("changed")
    return "changed what it may read only"


@probe
def change_mode_of_readable() -> str:
    with (Path(WORLD["readable"]) / "SKILL.md").open() as file:
        os.fchmod(file.fileno(), 0o777)
        return "changed the mode of what it may read only" if os.fstat(file.fileno()).st_mode & 0o002 else ""


@probe
def attribute_of_readable() -> str:
    with (Path(WORLD["readable"]) / "SKILL.md").open() as file:
        os.setxattr(file.fileno(), "user.parley", b"x")
    return "set an attribute of what it may read only"
