"""`fabricd metrics`."""
