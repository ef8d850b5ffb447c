"""Protocols between the rooms, and the values that they exchange: the store, and in time agents, providers, the bus.

A room below knows nothing of who stands behind a protocol; a room above chooses.
"""
