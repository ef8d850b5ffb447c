"""Tests: promises the project makes, kept by code that runs."""
