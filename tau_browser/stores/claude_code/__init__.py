"""Sessions of Claude Code: a file per session, and files of its sub-agents beside it."""
