"""The places of tests/ledger."""

from ledger.conftest import home, ledger_server

__all__ = ["home", "ledger_server"]
