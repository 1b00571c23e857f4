"""Add what is known.

The season comes before the weather, and the weather before everything that gets wet. Arrows that
follow from this are marked as given; the search keeps to it and says what it costs.
"""

import tamis

known = {"tiers": [["season"], ["rain", "sprinkler"]]}
model = tamis.TAM(knowledge=known).fit("examples/sprinkler.csv")
for edge in model.result_.edges:
    print(f"{edge.parent} -> {edge.child}: {edge.warrant}, {edge.direction_probability:.2f}")
model.plot().figure.savefig("known.png", dpi=110, bbox_inches="tight")
