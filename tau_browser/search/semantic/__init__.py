"""How entries are found by meaning: vectors of texts, made and compared on this machine alone."""
