"""`make bench`: the budgets, each beside a plain baseline in the same run."""
