"""The command line: thin commands over the library, each with --json and no traceback."""
