"""What every driver is told."""

import argparse

STEPS = 4  # of a workflow, where a system has steps


def options(name: str) -> argparse.Namespace:
    """Read the command line of a driver."""
    parser = argparse.ArgumentParser(prog=name)
    parser.add_argument("--url", required=True, help="of the store or server that the system stands on")
    parser.add_argument("--in-flight", type=int, required=True)
    parser.add_argument("--warm-up", type=float, required=True)
    parser.add_argument("--seconds", type=float, required=True)
    return parser.parse_args()
