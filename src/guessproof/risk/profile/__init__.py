"""Risk profiles after Kazan & Reiter: from the ratio of posterior to prior that is acceptable to ε.

`RiskProfile` holds one shape (`shapes`: closed forms, and one branch and bound for functions and points) and answers
for it, also for queries whose distances are known (`aware_epsilon`); `formulas` has the risk at one pair of priors and
its inverse.
"""
