"""Tests of the way from ε to what an attacker gains, and back."""
