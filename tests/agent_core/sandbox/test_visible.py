"""The parts of the machine that a command can see hold no secrets."""

from pathlib import Path

from agent_core.sandbox.machine_view import PROGRAMS, python_folder, system


def test_the_private_keys_of_the_machine_are_not_among_its_certificates() -> None:
    for path in (Path("/etc/ssl/private/ssl-cert-snakeoil.key"), Path("/etc/pki/tls/private/localhost.key")):
        assert not any(path.is_relative_to(shown) for shown in system(network=True))


def test_of_the_folder_that_python_was_installed_into_only_python_is_seen() -> None:
    """Python may be installed in a home folder."""
    shown = [path for path in system(network=False) if path not in PROGRAMS]

    assert not any(python_folder().is_relative_to(path) for path in shown)
