"""From bytes to records to evidence, one module per log format."""
