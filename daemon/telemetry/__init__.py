"""What the daemon tells: events, counters, metrics and the log file."""
