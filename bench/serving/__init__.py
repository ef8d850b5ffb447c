"""What bench/serve.py runs: the servers that are compared, each in a process of its own, and the load."""
