"""The audit on screen: recalls, their hits with verdicts, and the evidence side by side."""
