"""`python -m gateway.cli` as a later release with the same tables: all that differs is the number of its version."""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from gateway import cli
from gateway.security import packages

VERSION = "999.0"

if __name__ == "__main__":
    with TemporaryDirectory() as folder:
        packages.PROJECT = Path(folder) / "pyproject.toml"
        packages.PROJECT.write_text(f'[project]\nname = "parley"\nversion = "{VERSION}"\n')
        sys.exit(cli.main())
