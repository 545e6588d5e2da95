"""Laws: one suite that every prior, metric and goal passes."""
