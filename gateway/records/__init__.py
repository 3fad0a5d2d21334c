"""Records of runs: audit, trace, transcript, logs, replay and export."""
