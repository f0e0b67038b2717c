"""Starting and ending the daemon, by hand or by a service manager."""
