"""Several processes on one PostgreSQL database: nodes, chat ownership, leases and notifications."""
