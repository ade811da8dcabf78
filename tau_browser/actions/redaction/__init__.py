"""Secrets in what is given away: where they are, and names in their place."""
