"""`fabricd lint`."""
