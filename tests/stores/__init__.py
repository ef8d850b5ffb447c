"""Stores keep what they are given."""
