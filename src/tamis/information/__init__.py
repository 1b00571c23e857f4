"""The interface to entropies and gains, and the sources that answer it."""
