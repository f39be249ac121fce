"""What strategy a kernel follows, read from its structure. Nothing is compiled and nothing is run.

Each language is brought into the same few kinds of node (`_program`); what memory, algorithm and coordination mean
is then decided once for all of them. What a language calls a barrier, a shuffle or a matrix engine is in its table.
"""
