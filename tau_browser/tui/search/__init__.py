"""The search over all sessions: a screen of its own, and what it hands to the browser."""
