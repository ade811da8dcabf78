"""Exports: a session, or a part of it, as a file that a person can send or a program read.

Always of the whole stored session, never of what is loaded or on screen.
"""
