"""`agent-trajectory-profiler`."""
