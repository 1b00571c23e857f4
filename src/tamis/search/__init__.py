"""The paper, one algorithm a file."""
