"""What `receipts` is made of: tables, rows, writing, checking and forgetting."""
