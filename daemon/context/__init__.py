"""The context engine at work: the worker, what attends to it, and the engine that both serve."""
