"""Rollouts of Codex: one straight conversation per file, told twice over in its lines."""
