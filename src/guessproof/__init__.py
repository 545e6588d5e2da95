"""guessproof."""
