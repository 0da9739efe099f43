"""The pure core: what may happen to a job, and what follows from it. No I/O, clock, randomness or logging."""
