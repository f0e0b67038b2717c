"""`fabricd wrap`."""
