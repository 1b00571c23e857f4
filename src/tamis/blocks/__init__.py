"""Tables that are not held in memory: plane files, and counting them block by block."""
