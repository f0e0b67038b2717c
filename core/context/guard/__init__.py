"""The guard on every way out: secrets give way to placeholders, injected orders are flagged.

Pure. A text keeps its number of lines; nothing is dropped without a trace.
"""
