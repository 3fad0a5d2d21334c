"""The demo model, which answers where no other is set."""
