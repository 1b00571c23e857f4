"""The Interchange Format for Bayesian Networks (BIF 0.15), read and written.

Three passes lead from text to network: ``scanner`` finds words and marks, ``syntax`` finds
blocks and rows, and ``meaning`` finds variables and tables. ``render`` goes back.

Two rules of the format are narrower here. Text between blocks, which BIF allows as a kind of
comment, is refused, so that a misspelt keyword is noticed; remarks go behind ``//``. And of
``probability ( a b | c )``, in which BIF ignores the bar, only forms with one variable
before the bar are read.
"""
