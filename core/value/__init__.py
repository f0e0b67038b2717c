"""Value: receipts of what a mechanism did, records of runs, and summaries with honest totals."""
