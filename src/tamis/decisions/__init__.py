"""When a gain counts as dependence: one rule a file, all with the shape of ``rule.Rule``."""
