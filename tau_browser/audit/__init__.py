"""What the agent recalled, and whether it used it: reads model, stores and search."""
