"""Everything that lives in time: supervisor, tailer, grace queue, compile loop, command line."""
