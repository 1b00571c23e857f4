"""Resample to see how sure the arrows are.

Each arrow is learned again from 20 random halves of the rows. The picture writes the share of
halves that show it.
"""

import tamis

model = tamis.TAM().fit("examples/sprinkler.csv")
confidence = model.bootstrap(20, seed=1)
for (parent, child), share in list(confidence.edges.items())[:8]:
    print(f"{parent} -> {child} in {share:.0%} of 20 halves")
model.plot(confidence=confidence).figure.savefig("sure.png", dpi=110, bbox_inches="tight")
