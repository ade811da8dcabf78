"""What each program asks of a session that it is to reopen, and how a copy is written for it."""
