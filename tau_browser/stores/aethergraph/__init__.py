"""aethergraph's event memory, of its first alpha and of its fifteenth, read where it lies.

The program is never imported: its files are JSON, lines of JSON, and SQLite, which is opened so
that nothing appears beside it.
"""
