"""Digests of what was said and done, made without a model: exact sources, nothing invented."""
