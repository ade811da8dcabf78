"""tau-browse: look into the memory of coding agents."""

__version__ = "0.1.0"
