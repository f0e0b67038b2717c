"""The metrics there are: a contract with whoever draws them. Added to, never renamed."""

from __future__ import annotations

from fabricd.daemon.cli.metrics.exposition import Family

FAMILIES: tuple[Family, ...] = (
    Family(
        "counters",
        "sessionsRead",
        "fabricd_read_passes_total",
        "Passes over session logs that found something to read, by where they began.",
        ("how",),
    ),
    Family(
        "counters",
        "sessionsFailed",
        "fabricd_read_failures_total",
        "Passes over session logs that broke.",
    ),
    Family("counters", "bytesRead", "fabricd_read_bytes_total", "Bytes read from session logs."),
    Family("counters", "tracesRead", "fabricd_read_traces_total", "Traces read from session logs."),
    Family(
        "counters",
        "compiles",
        "fabricd_compiles_total",
        "Compiles by how they ended.",
        ("outcome",),
    ),
    Family(
        "counters", "compileSeconds", "fabricd_compile_seconds_total", "Seconds that compiles took."
    ),
    Family(
        "counters",
        "gateRejections",
        "fabricd_gate_rejections_total",
        "Artifacts that the gate refused, each set of reasons once.",
    ),
    Family(
        "counters",
        "reviews",
        "fabricd_reviews_total",
        "Reviews that had something new to suggest to authors.",
    ),
    Family("counters", "turnEnds", "fabricd_turn_ends_total", "Ends of turns told by hooks."),
    Family(
        "counters",
        "clockJumps",
        "fabricd_clock_jumps_total",
        "Times that the clocks disagreed: asleep, set, or kept from running.",
        ("kind",),
    ),
    Family(
        "counters",
        "socketRebinds",
        "fabricd_socket_rebinds_total",
        "Times that the removed control socket was bound again.",
    ),
    Family(
        "counters",
        "ignoredTranscripts",
        "fabricd_ignored_transcripts_total",
        "Transcripts named by hooks that are no session log of this home.",
    ),
    Family(
        "counters",
        "degradations",
        "fabricd_degradations_total",
        "Times that something stopped working as it should.",
    ),
    Family(
        "counters",
        "checkpointFailures",
        "fabricd_checkpoint_failures_total",
        "Checkpoints that were damaged when they were read.",
    ),
    Family(
        "counters",
        "clientsRefused",
        "fabricd_refused_clients_total",
        "Connections that were turned away.",
        ("cause",),
    ),
    Family(
        "counters",
        "clientsCut",
        "fabricd_cut_clients_total",
        "Conversations that the daemon ended.",
        ("cause",),
    ),
    Family(
        "counters",
        "requests",
        "fabricd_requests_total",
        "Requests by method and by how they ended.",
        ("method", "ending"),
    ),
    Family(
        "counters",
        "logLinesLost",
        "fabricd_lost_log_lines_total",
        "Log lines that could not be written.",
    ),
    Family("gauges", "uptimeSeconds", "fabricd_uptime_seconds", "Seconds since the start."),
    Family("gauges", "residentBytes", "fabricd_resident_memory_bytes", "Resident memory."),
    Family("gauges", "openDescriptors", "fabricd_open_descriptors", "Open file descriptors."),
    Family(
        "gauges",
        "loopLagSeconds",
        "fabricd_loop_lag_seconds",
        "Largest lag of the event loop in the last minute, looked at every 4 s.",
    ),
    Family("gauges", "knownFiles", "fabricd_known_files", "Session logs found."),
    Family("gauges", "windowFiles", "fabricd_window_files", "Session logs in the window."),
    Family("gauges", "windowBytes", "fabricd_window_bytes", "Size of the logs in the window."),
    Family(
        "gauges",
        "windowBehindBytes",
        "fabricd_window_behind_bytes",
        "Bytes of the window not read yet.",
    ),
    Family("gauges", "score", "fabricd_rejection_ratio", "Refused calls among all of the window."),
    Family("gauges", "actionOperations", "fabricd_window_calls", "Calls of actions in the window."),
    Family(
        "gauges",
        "invocationRejections",
        "fabricd_window_rejections",
        "Calls in the window that were refused before they took effect.",
    ),
    Family("gauges", "plans", "fabricd_plans", "Plans of the compiled artifact."),
    Family("gauges", "degraded", "fabricd_degraded", "Things that do not work as they should."),
    Family(
        "gauges", "compilesPending", "fabricd_pending_compiles", "Compiles asked for and not begun."
    ),
    Family("gauges", "repairsOwed", "fabricd_owed_repairs", "Repair rows learned, not saved yet."),
    Family("gauges", "connections", "fabricd_connections", "Clients connected."),
    Family("gauges", "heldBytes", "fabricd_held_bytes", "Bytes held for clients."),
    Family("gauges", "subscribers", "fabricd_subscribers", "Clients that are sent events."),
    Family(
        "gauges",
        "longestQueue",
        "fabricd_subscriber_queue_frames",
        "Events that the slowest subscriber has still to be sent.",
    ),
    Family(
        "gauges",
        "contextWorkerBytes",
        "fabricd_context_worker_resident_memory_bytes",
        "Resident memory of the context worker, 0 while none runs.",
    ),
    Family(
        "counters",
        "workersEnded",
        "fabricd_context_workers_ended_total",
        "Context workers that have ended, by how.",
        ("how",),
    ),
)
