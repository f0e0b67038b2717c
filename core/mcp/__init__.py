"""The Model Context Protocol as a gateway reads it: lines, listings, replies, and what is logged.

Pure: bytes and values in, bytes and values out. Nothing here originates a message.
"""
