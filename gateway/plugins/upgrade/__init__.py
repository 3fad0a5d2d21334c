"""Whether there is a newer version: `parley upgrade`."""
