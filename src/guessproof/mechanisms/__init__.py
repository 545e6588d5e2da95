"""How much noise, how accurate, and what it costs.

One module a mechanism: :mod:`laplace`, :mod:`geometric`, :mod:`gaussian`, :mod:`cauchy`, :mod:`smooth`; the protocol
they share is in :mod:`base`. :mod:`accuracy` goes from a wanted accuracy to ε, :mod:`composition` adds releases up,
:mod:`awareness` asks what the attacker learns from this very mechanism, and :mod:`sampling`, the only impure file,
draws the noise.
"""
