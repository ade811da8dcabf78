"""The index of all entries of a store: kept in the cache folder, made anew whenever in doubt.

Two parts lie side by side. The catalog (SQLite) knows which bytes of which file hold which
content; the postings (tantivy) know which content holds which words. Neither holds a text: what
is shown of a hit is read from the session file. A content is an entry, counted once however many
forks copied it; each copy is a standing.
"""
