"""Normal forms: argument repairs that a declared schema proves safe."""
