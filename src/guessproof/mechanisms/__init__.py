"""How much noise, how accurate, and what it costs.

One module a mechanism: laplace, geometric, gaussian, cauchy, smooth; what they all say of themselves is in base.
selection picks one of several values instead of adding noise.
composition adds releases up and splits budgets, awareness (with response and integrals) asks
what the attacker learns from this very mechanism, and sampling, the only impure file, draws the noise.
"""

from guessproof.mechanisms.base import Mechanism
from guessproof.mechanisms.cauchy import Cauchy
from guessproof.mechanisms.gaussian import Gaussian
from guessproof.mechanisms.geometric import Geometric
from guessproof.mechanisms.laplace import Laplace

# Those that a plan can name; nothing else in the program lists them.
MECHANISMS: dict[str, type[Mechanism]] = {kind.name: kind for kind in (Laplace, Geometric, Gaussian, Cauchy)}
BEST, BEST_WHOLE = Laplace, Geometric  # where a plan names none: for any answer, and for whole ones
FOLLOWING = Cauchy  # its scale may follow the data

__all__ = ["BEST", "BEST_WHOLE", "FOLLOWING", "MECHANISMS", "Mechanism"]
