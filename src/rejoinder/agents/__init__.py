"""The vendors' I/O: each agent and provider in a file of its own, which imports its SDK only when it is used."""
