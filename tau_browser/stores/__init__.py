"""Where conversations live: one adapter per place, each thin, each behind the same protocol."""
