"""Payments: several a client, each to one merchant; what merchants sell and what currencies are worth is public."""

from __future__ import annotations

import numpy as np

from workload.making import Tables, days, labels, scaled

CHANNELS = {"card": 0.6, "transfer": 0.3, "cash": 0.1}
CURRENCIES = {"EUR": 0.7, "USD": 0.2, "SEK": 0.1}


def make(rng: np.random.Generator, size: float) -> Tables:
    """Most clients pay three times or less, a few up to twelve times."""
    clients = scaled(2000, size)
    client = np.repeat(np.arange(clients), np.minimum(rng.geometric(0.35, clients), 12))
    count = len(client)
    payments = {
        "payment": np.arange(count),
        "client": client,
        "merchant": [f"m{i:02d}" for i in rng.integers(0, 20, count)],
        "channel": labels(rng, CHANNELS, count),
        "currency": labels(rng, CURRENCIES, count),
        "amount": np.clip(np.round(rng.lognormal(4, 0.8, count), 2), 0, 500),
        "paid": days(rng, "2023-01-01", "2024-12-31", count),
        "refunded": labels(rng, {"yes": 0.05, "no": 0.95}, count),
    }
    merchants = {
        "merchant": [f"m{i:02d}" for i in range(20)],
        "sector": [("food", "travel", "health", "home")[i % 4] for i in range(20)],
        "country": [("FI", "EE", "SE")[i % 3] for i in range(20)],
    }
    rates = {"currency": ["EUR", "USD", "SEK"], "rate": [1.0, 0.9, 0.1]}
    return {"payments": payments, "merchants": merchants, "rates": rates}
