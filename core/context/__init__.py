"""The context engine's rules: from a file's text to units, ranks, selections, answers, receipts."""
