"""The whole system in one thread: production code on a simulated clock, broker and stores, under seeded faults."""
