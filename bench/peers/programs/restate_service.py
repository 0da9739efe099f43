"""Restate's side: a handler of four durable steps that do nothing, served by hypercorn as its guide says."""

import restate

from bench.peers.programs.options import STEPS

peer = restate.Service("peer")


async def nothing() -> int:
    """Do nothing; Restate journals the result."""
    return 1


@peer.handler()
async def job(ctx: restate.Context, number: int) -> int:
    """Run the steps, each journalled before the next begins."""
    for step in range(STEPS):
        await ctx.run_typed(f"step-{step}", nothing)
    return number


app = restate.app([peer])
