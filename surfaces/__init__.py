"""Built-in tool schemas of coding agents, shipped as data: a JSON file for each, and a notice."""
