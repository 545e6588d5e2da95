"""A prior that may be wrong: the odds of any two values differ from the declared ones by up to a factor."""
