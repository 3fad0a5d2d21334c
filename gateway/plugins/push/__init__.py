"""Notifications on devices whose page is closed."""
