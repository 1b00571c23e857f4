"""Add what is known.

The season comes before rain and sprinkler. Directions that follow from this, with or without the
rows, are marked as given; the search keeps to it, and the answer says what it costs in
likelihood.
"""

import tamis

known = {"tiers": [["season"], ["rain", "sprinkler"]]}
model = tamis.TAM(knowledge=known).fit("examples/sprinkler.csv")
for edge in model.result_.edges:
    arrow = f"{edge.parent} -> {edge.child}"
    print(f"{arrow}: {edge.warrant}, probability {edge.direction_probability:.2f}")
model.plot().figure.savefig("known.png", dpi=110, bbox_inches="tight")
