"""Words of eight languages by what they do in an order to an assistant. Data alone.

A word that ends in `*` stands for all that begin with it; `_` joins words in a row. Chinese and
Japanese entries are pieces of text. Kinds stand apart, so that no
lines in a row read like an order.
"""
