"""The context engine's files: the index, what git knows of a tree, receipts."""
