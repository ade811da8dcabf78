"""Repositories of agmem, read where they lie: Git-like histories of what an agent observed.

Nothing of agmem is imported, and nothing is written: its own readers make folders and store blobs.
"""
