"""`fabricd report`."""
