"""One judge for each published result: it computes the published and the exact value and lets the numbers speak."""
