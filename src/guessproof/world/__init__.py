"""What the attacker knows and wants: priors, distances, attributes and goals, as frozen values."""
