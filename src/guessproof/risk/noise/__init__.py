"""Beliefs after one noisy output, whatever the noise: a prior in cells, outputs in cells, the least noise.

A prior is cut into cells of values; one table of outputs × cells holds cumulative sums of their weights and serves all
goals (`cells`). `outputs` follows one goal through any noise; `reading` answers for a stated and for the worst true
value behind Gaussian noise, and searches for the noise.
"""
