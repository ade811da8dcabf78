"""Capture: the tool calls of live sessions, of any store, kept in a repository of agmem's.

What agmem's own daemon was meant to do, without its faults (memory-systems 2 and 3): nothing is
lost or doubled by a kill at any point, errors are kept however short, a cut is marked and the whole
kept beside it, secrets never reach the disk.
"""
