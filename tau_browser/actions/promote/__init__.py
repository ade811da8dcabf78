"""Promotion: entries that are worth keeping become documents of a corpus on a JMFTS server."""
