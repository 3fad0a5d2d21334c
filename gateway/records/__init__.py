"""Records of runs: audit, trace, transcript, logs and replay."""
