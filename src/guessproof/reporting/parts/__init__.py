"""The parts of a report, one file each: facts in, HTML out."""
