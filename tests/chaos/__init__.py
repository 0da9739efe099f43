"""The whole ledger on a real cluster, with traffic, while its processes, brokers and stores are killed and frozen.

Read in this order: run.py (one run from start to verdict), cluster.py (what runs), traffic.py and receiver.py (what
customers do and get), faults.py (what breaks), ledger.py and verdict.py (what has to be true of it afterwards).
"""
