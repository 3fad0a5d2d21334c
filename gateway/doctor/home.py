"""Can Parley keep what it has to keep? Looks without making or changing anything."""

import errno
import fcntl
import os
import shutil
import socket
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

from channels.checkup import Finding, note, ok, problem
from gateway.http import HOST
from gateway.store.store import FILE, LOCK, migrations

ENOUGH = 200 * 1024 * 1024
"""Bytes of free disk."""
ELSEWHERE = "or set PARLEY_HOME to another folder"
KEPT = {
    FILE: os.R_OK | os.W_OK,
    LOCK: os.R_OK | os.W_OK,
    "page.key": os.R_OK | os.W_OK,
    "audit": os.R_OK | os.W_OK | os.X_OK,
    "workspaces": os.R_OK | os.W_OK | os.X_OK,
}
"""What the home holds, and what Parley has to be able to do with it."""


def look_at_home(home: Path) -> Iterator[Finding]:
    """`home` need not exist."""
    there = next(folder for folder in (home, *home.parents) if folder.exists())
    if not there.is_dir():
        yield problem(f"{there} is a file where a folder has to be", f"move it away, {ELSEWHERE}")
        return
    if not os.access(there, os.W_OK | os.X_OK):
        yield problem(f"{there} cannot be written to", f"make it yours (chown), {ELSEWHERE}")
    elif there == home:
        yield ok(f"{home} is writable")
    else:
        yield ok(f"{home} will be made at the first start")
    if (free := shutil.disk_usage(there).free) < ENOUGH:
        yield problem(f"only {free // 2**20} MB are free on the disk of {there}", f"make room, {ELSEWHERE}")
    yield from look_at_files(home)
    yield from look_at_store(home)


def look_at_store(home: Path) -> Iterator[Finding]:
    file = home / FILE
    if not file.exists():
        return
    if not file.is_file():
        yield problem(f"{file} is no file", f"move it away, {ELSEWHERE}")
        return
    if not os.access(file, os.R_OK):
        return  # said already, with the other files
    if file.stat().st_mode & 0o077 and home.stat().st_mode & 0o077:
        yield problem(f"{home} can be read by others on this machine", f"chmod 700 {home}")
    try:
        with closing(sqlite3.connect(f"file:{quote(str(file))}?mode=ro", uri=True, timeout=5)) as store:
            verdict = str(store.execute("PRAGMA quick_check(1)").fetchone()[0])
            schema = int(store.execute("PRAGMA user_version").fetchone()[0])
    except sqlite3.Error as error:
        verdict, schema = str(error), 0
    if verdict != "ok":
        yield problem(f"{file} is damaged ({verdict})", "restore it from a backup, or move it away to start anew")
    elif schema > (known := len(migrations())):
        yield problem(f"{file} has schema {schema}, and this Parley knows {known}", "start the newer Parley")
    else:
        yield ok(f"{file.name} is sound, {file.stat().st_size / 2**20:.1f} MB")


def look_at_files(home: Path) -> Iterator[Finding]:
    """What an earlier start made, perhaps as another user, has to be ours now."""
    for name, powers in KEPT.items():
        if (home / name).exists() and not os.access(home / name, powers):
            yield problem(f"{home / name} cannot be read and written", f"make it yours (chown), {ELSEWHERE}")


def running(home: Path) -> str | None:
    """Who works on this store now, such as "pid 4711"; None if nobody does."""
    try:
        with (home / LOCK).open() as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return lock.readline().strip() or "unknown process"
    except OSError:
        return None
    return None


def look_at_port(port: int, holder: str | None) -> Iterator[Finding]:
    """`holder`: the Parley that runs now, which may well have the port."""
    with closing(socket.socket(socket.AF_INET, socket.SOCK_STREAM)) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError as error:
            if error.errno == errno.EADDRINUSE and holder:
                yield ok(f"page: port {port} is in use, by the Parley that runs ({holder}) as it seems")
                return
            words = (
                "is taken by another program"
                if error.errno == errno.EADDRINUSE
                else f"cannot be used ({error.strerror})"
            )
            yield problem(f"page: port {port} {words}", "set PARLEY_WEB_PORT to another one; 0 takes any that is free")
            return
    yield ok(f"page: port {port} is free" if port else "page: takes any port that is free")


def look_at_instance(holder: str | None) -> Iterator[Finding]:
    if holder:
        yield note(f"Parley is running ({holder})")
