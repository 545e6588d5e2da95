"""Several attributes at once: Boolean goals, locations, attributes that depend on each other.

A goal becomes a tree of ANDs and ORs over *blocks*: parts of the goal that share no attribute and no joint prior,
hence independent of each other. Blocks of one attribute have exact answers. What joins them is bounded by the
product rule and by leaves, attacked by signed distances, and pinned down by certified cells.
"""
