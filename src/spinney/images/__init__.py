"""Images as rows for forests: neighbour features, windows, and labels for pixels."""

from spinney.images.jaccard import class_average_jaccard
from spinney.images.labelling import PixelLabeler
from spinney.images.neighbors import NeighborFeatures
from spinney.images.windows import WindowRows

__all__ = ["NeighborFeatures", "PixelLabeler", "WindowRows", "class_average_jaccard"]
