"""How entries are found."""
