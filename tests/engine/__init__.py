"""Turns that run: what becomes of them, whatever their agents, stores and users do."""
