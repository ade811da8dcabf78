"""What a conversation is: pure data and algebra, no input or output, no screen."""
