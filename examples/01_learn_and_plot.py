"""Learn a table and draw the graph.

Solid arrows have a direction that every equally good graph shares, dashed ones are open: the rows
do not clearly say which way they point.
"""

import tamis

model = tamis.TAM().fit("examples/sprinkler.csv")
print(model.result_.answer())
model.plot().figure.savefig("graph.png", dpi=110, bbox_inches="tight")
