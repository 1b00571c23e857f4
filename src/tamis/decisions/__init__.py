"""When information counts as dependence: the rules, all with the shape of ``rule.Rule``."""
