"""Turns that run now: who runs them, who reads them, who stops them, and what becomes of those whose owner died.

Names no store and no agent, and no way in which readers are connected.
"""
