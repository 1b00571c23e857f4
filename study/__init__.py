"""Studies of tamis: not part of the installed package."""
