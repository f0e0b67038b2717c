"""The answer as text: written from pieces, read back by counting lines, fitted to a budget."""
