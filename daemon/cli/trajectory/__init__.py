"""`fabricd trajectory`."""
