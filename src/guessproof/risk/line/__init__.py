"""Solvers for one attribute on a line, exact up to the width of the prior's pieces."""
