"""The SDK is imported without packages of which Parley needs nothing, and nobody else is kept from them."""

import subprocess
import sys

IMPORTED = """
import sys, threading

import channels.telegram.sdk as sdk

assert not {"cryptography", "rich", "pygments", "click"} & {*sys.modules}

found = []


def imports():
    import cryptography

    found.append(cryptography)


with sdk._without_unused():
    other = threading.Thread(target=imports)
    other.start()
    other.join()

assert found != []
import cryptography, httpx._main
"""
"""Run on its own, as the packages are imported already where tests run."""


def test_what_it_does_not_need_is_not_imported_with_it_but_by_others() -> None:
    subprocess.run([sys.executable, "-c", IMPORTED], check=True)  # noqa: S603
