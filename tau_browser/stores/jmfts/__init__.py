"""Conversations on a JMFTS server: one document per entry, each below the entry before it."""
