"""`fabricd surface`."""
