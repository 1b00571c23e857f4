"""Who answers what the algorithms ask: how uncertain a variable is, and how much one tells of
another."""
