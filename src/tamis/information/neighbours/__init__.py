"""Information from nearest neighbours: any smooth dependence between continuous columns."""

from tamis.information.neighbours.source import NearestNeighbours, NeighbourInformation

__all__ = ["NearestNeighbours", "NeighbourInformation"]
