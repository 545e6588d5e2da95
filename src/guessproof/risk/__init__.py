"""ε → what the attacker gains, and back.

A release gives the attacker a likelihood; privacy says that its logarithm is Lipschitz; the rest is Bayes.
Every engine of this room returns the *gain*: the largest increase of the goal's log-odds, which is the
logarithm of the largest Bayes factor that a release may give. The loss is the gain of the complement.
"""
