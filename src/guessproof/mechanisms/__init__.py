"""How much noise, how accurate, and what it costs.

One module a mechanism: laplace, geometric, gaussian, cauchy, smooth; the protocol they share is in base.
accuracy goes from a wanted accuracy to ε, composition adds releases up, awareness (with response, integrals and
guesser) asks what the attacker learns from this very mechanism, and sampling, the only impure file, draws the
noise.
"""
