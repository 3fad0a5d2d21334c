"""Each platform's events turned into ours, and our messages into the platform's."""
