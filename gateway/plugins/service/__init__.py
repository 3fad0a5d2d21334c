"""Parley as a systemd service of this user: `parley service`."""
