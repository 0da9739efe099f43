"""Short stand-ins for the seams of the runtime, kept honest by the suites in tests/contract."""
