"""Several attributes at once: AND, OR, NOT, places and formulas, with any norm from l1 to l-infinity."""
