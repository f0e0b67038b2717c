"""`fabricd context`."""
