"""What a search must not do, as `tamis.knowledge` says it."""

from tamis.knowledge import Constraints as Constraints
