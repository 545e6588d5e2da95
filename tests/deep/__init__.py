"""What `make test` leaves out and `make test-all` runs: drawn cases at length, every engine, the parts of solvers."""
