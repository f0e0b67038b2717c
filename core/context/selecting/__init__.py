"""Which units are given at which level: a knapsack over containment trees, with a certificate."""
