"""`fabricd value`."""
