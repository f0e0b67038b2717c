"""What needs no daemon: the same steps, driven in place."""
