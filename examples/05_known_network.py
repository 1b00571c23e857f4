"""Ask whether a known network can be found at all.

Before any data, `tamis.check` evaluates the paper's conditions on a network. Tables drawn from it
show from how many rows on its graph is found.
"""

import matplotlib.pyplot as plt

import tamis

network = tamis.BayesianNetwork.example("orchard")
print("guaranteed with enough rows:", ", ".join(tamis.check(network).guaranteed))

sizes = [100, 300, 1000, 3000, 10000]
shares = []
for rows in sizes:
    learned = [tamis.TAM("node").fit(network.sample(rows, seed=seed)) for seed in range(20)]
    shares.append(sum(tamis.metrics.shd(one, network) == 0 for one in learned) / 20)
    print(f"{rows} rows: the true graph in {shares[-1]:.0%} of 20 tables")

figure, axes = plt.subplots(figsize=(5, 3))
axes.semilogx(sizes, shares, marker="o")
axes.set(xlabel="rows", ylabel="share of tables", ylim=(-0.05, 1.05), title="orchard is found")
figure.savefig("recovery.png", dpi=110, bbox_inches="tight")
