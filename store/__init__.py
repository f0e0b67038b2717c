"""Files on disk. Every durable file loads as Loaded, Missing or Damaged; nothing here logs."""
