"""Changes on the screen: what one would do, what a person may choose about it, and taking back."""
