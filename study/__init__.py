"""What tamis is measured by: studies of random and published networks, beside other methods.

Run from the root of the repository; ``study/README.md`` says how.
"""
