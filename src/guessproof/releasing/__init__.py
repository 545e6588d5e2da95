"""Making a release: charge, run, record, show."""

from guessproof.releasing.answer import Answer, Released, add_noise, draw_numbers, sampling_error
from guessproof.releasing.run import check_rows, naming_source, prepare_query, release, request_digest, source_of

__all__ = [
    "Answer",
    "Released",
    "add_noise",
    "check_rows",
    "draw_numbers",
    "naming_source",
    "prepare_query",
    "release",
    "request_digest",
    "sampling_error",
    "source_of",
]
