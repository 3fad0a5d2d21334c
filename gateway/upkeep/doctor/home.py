"""Checks the home folder, the store and the shared skills without changing or running anything."""

import errno
import fcntl
import os
import shutil
import socket
import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from agent_core.skills.library import Diagnostic
from agent_core.skills.skill import Origin
from channels.checkup import Finding, note, ok, problem
from gateway.errors import SettingsError
from gateway.runs.toolbox import skill_library
from gateway.settings.limits import MB
from gateway.settings.settings import Settings
from gateway.settings.web import WebSettings
from gateway.store import opening
from gateway.store.file_connection import connect_to_read
from gateway.store.opening import FILE, LOCK, StoreDamaged, migrations, schema_of
from gateway.store.soundness import damaged_in
from gateway.upkeep.doctor.database import look_at_database
from gateway.upkeep.sizes import ENOUGH, in_words, named, sizes
from gateway.web.address import Address

ELSEWHERE = "or set PARLEY_HOME to another folder"
KEPT = {
    FILE: os.R_OK | os.W_OK,
    LOCK: os.R_OK | os.W_OK,
    "audit": os.R_OK | os.W_OK | os.X_OK,
    "audit.key": os.R_OK,
    "audit.heads": os.R_OK,
    "workspaces": os.R_OK | os.W_OK | os.X_OK,
}
"""The contents of the home, and the access that Parley needs."""
SKIPPED = "they are skipped; a backup may still hold them (`parley restore` lists them), and have the disk checked"
MOST_TOLD = 5


def look_at_home(home: Path, reserve: int = 0, database: str | None = None) -> Iterator[Finding]:
    """Check the home, which need not exist, and the store.

    Args:
        home: Parley's folder.
        reserve: Bytes of the disk that users and programs may not fill.
        database: The address of the store's database; None for the file in the home.
    """
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
    elif free < reserve:
        yield note(
            f"no program runs and no file is taken in, for {free // MB} MB are free on the disk of {there}",
            f"make room for {reserve // MB} MB, or set PARLEY_QUOTAS_RESERVE_MB",
        )
    yield from look_at_files(home)
    yield from check_store(home) if database is None else look_at_database(database, home)


def check_store(home: Path) -> Iterator[Finding]:
    file = home / FILE
    if file.exists() and not file.is_file():
        yield problem(f"{file} is no file", f"move it away, {ELSEWHERE}")
        return
    if file.exists() and not os.access(file, os.R_OK):
        return  # reported with the other files
    try:
        opening.check_store(home)
    except StoreDamaged as error:
        yield problem(error.what, error.fix)
        return
    if file.exists():
        yield from _look_into(file)


def _look_into(file: Path) -> Iterator[Finding]:
    """Check the schema and sizes of a store that is sound."""
    if file.stat().st_mode & 0o077 and file.parent.stat().st_mode & 0o077:
        yield problem(f"{file.parent} can be read by others on this machine", f"chmod 700 {file.parent}")
    try:
        with closing(connect_to_read(file)) as store:
            schema = schema_of(store)
            is_known = schema == len(migrations())
            damaged = Counter(each.table for each in damaged_in(store)) if is_known else Counter[str]()
    except sqlite3.Error as error:
        yield problem(f"{file} cannot be read ({error})", "see that you own it and that the disk is well")
        return
    if schema > (known := len(migrations())):
        yield problem(f"{file} has schema {schema}, and this Parley knows {known}", "start the newer Parley")
    else:
        if damaged:
            tables = ", ".join(f"{table} ({count})" for table, count in damaged.items())
            yield problem(f"{damaged.total()} rows of {file.name} can no longer be read ({tables})", SKIPPED)
        else:
            yield ok(f"{file.name} is sound, {file.stat().st_size / 2**20:.1f} MB")
        kept = sizes(file.parent)
        newest = f", the newest {kept.newest.name}" if kept.newest else ""
        files, versions, backups = map(in_words, (kept.files, kept.versions, kept.backups))
        yield ok(f"also stored: files {files}, former versions {versions}, backups {backups}{newest}")
        if kept.chats:
            people = f"; people: {named(kept.people)}" if kept.people else ""
            yield ok(f"largest chats: {named(kept.chats)}{people}")


def look_at_files(home: Path) -> Iterator[Finding]:
    """Check that files from earlier starts, perhaps by another user, are accessible."""
    for name, powers in KEPT.items():
        if (home / name).exists() and not os.access(home / name, powers):
            yield problem(f"{home / name} cannot be read and written", f"make it yours (chown), {ELSEWHERE}")


def running(folder: Path) -> str | None:
    """Return the process that holds the lock in a folder, such as "pid 4711"; None if there is none.

    The folder is the home, or that of a node in it.
    """
    try:
        with (folder / LOCK).open() as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return lock.readline().strip() or "unknown process"
    except OSError:
        return None
    return None


def look_at_page(web: WebSettings, holder: str | None) -> Iterator[Finding]:
    """Check that the page can listen as it is set. `holder`: the running Parley, which may have the port."""
    try:
        Address.of(web).tls()
    except SettingsError as error:
        yield problem("page: it cannot be opened to others as it is set", error.sentence)
        return
    port, family = web.port, socket.AF_INET6 if ":" in web.host else socket.AF_INET
    with closing(socket.socket(family, socket.SOCK_STREAM)) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((web.host, port))
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


def look_at_skills(settings: Settings) -> Iterator[Finding]:
    library = skill_library(settings)
    yours = sum(skill.origin is Origin.OWNER for skill in library.skills)
    installed = sum(skill.origin is Origin.INSTALLED for skill in library.skills)
    shipped = len(library.skills) - yours - installed
    more = f", {installed} installed" if installed else ""
    yield ok(f"skills: {shipped} built in, {yours} of yours{more}")
    for skill in library.skills:
        if reason := library.reason(skill):
            yield note(f"skill {skill.name} is not available: {reason}")
    found = sorted(library.diagnostics, key=lambda each: each.is_usable)
    yield from map(_skill_finding, found[:MOST_TOLD])
    if len(found) > MOST_TOLD:
        yield note(f"{len(found) - MOST_TOLD} more files of skills need a look", "see /skills in a direct chat")


def _skill_finding(found: Diagnostic) -> Finding:
    fact, _, advice = str(found).rpartition("; ")
    return note(fact, advice) if found.is_usable else problem(fact, advice)
