"""A program that prints its surroundings as JSON and ends as its argument says."""

import gc
import json
import os
import signal
import sys
import threading
from pathlib import Path

SIGNALS = ("SIGINT", "SIGTERM", "SIGCHLD", "SIGPIPE", "SIGHUP")


def found() -> dict[str, object]:
    os.umask(umask := os.umask(0))
    return {
        "environ": dict(os.environ),
        "cwd": str(Path.cwd()),
        "arguments": sys.argv,
        "path": sys.path,
        "flags": list(sys.flags),
        "umask": umask,
        "signals": {name: str(signal.getsignal(getattr(signal, name))) for name in SIGNALS},
        "blocked": sorted(signal.pthread_sigmask(signal.SIG_BLOCK, ())),
        "wakeup": signal.set_wakeup_fd(-1),
        "files": sorted(str(file.readlink()) for file in Path("/proc/self/fd").iterdir() if file.exists()),
        "threads": [str(thread.name) for thread in threading.enumerate()],
        "tasks": len([*Path("/proc/self/task").iterdir()]),
        "leads": os.getsid(0) == os.getpid(),
        "streams": [str(stream) for stream in (sys.stdin, sys.stdout, sys.stderr)],
        "buffered": [stream.line_buffering for stream in (sys.stdin, sys.stdout, sys.stderr)],
        "name": __name__,
        "collects": gc.isenabled(),
    }


if __name__ == "__main__":
    sys.stdout.write(json.dumps(found()))
    sys.stdout.flush()
    match sys.argv[1:]:
        case ["raise"]:
            raise RuntimeError("as it was told")
        case ["wait"]:
            signal.pause()
        case [code]:
            sys.exit(int(code))
