"""What an attacker learns from Gaussian noise: no ε bounds it for every output, so outputs are counted."""
