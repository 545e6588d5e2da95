"""Questions as people ask them, on invented tables: which are accepted, with how much noise, and which are refused.

Each folder is one family: `questions.toml` declares its tables and asks, `tables.py` makes the tables from a seed. The
families have the shapes of the examples that come with Laud and Pankova's analyser, and of the TPC-H benchmark.
"""
