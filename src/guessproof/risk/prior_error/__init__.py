"""Attackers whose prior differs from the declared one: the odds of any two values by a factor κ at most.

The largest rise of a belief over all such priors and all private likelihoods: `cells` (the declared prior cut into
cells), `tents` (the best prior and likelihood found, and a proof that no other exceeds a limit), `odds` (a bound for
any world), `answer` (which applies, and the searches over it).
"""
