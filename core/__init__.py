"""The pure rooms: bytes and values in, values out. No files, clocks, randomness or async."""
