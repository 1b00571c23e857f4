"""The project's own fuzzer: hostile command lines, files, arguments and tables, from one seed.

`python -m fuzz --help` says how it is run; `make fuzz` runs it. Whatever it is given, tamis
answers, or refuses in its own words: no other exception, no traceback, nothing left behind, and
nothing written by a command that failed.
"""
