"""From a text to its units. `parser` is the way in; a grammar is loaded when first met."""
