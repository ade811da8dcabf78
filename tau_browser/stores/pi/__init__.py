"""Sessions of pi: trees of entries in files, as τ's are, in three versions."""
