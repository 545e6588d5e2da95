"""Tests of the papers room: what is printed, what is true, and that each verdict follows from its numbers."""
