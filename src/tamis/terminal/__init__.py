"""What the command line needs beyond the library: words, waiting, and clean endings."""
