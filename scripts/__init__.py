"""Programs for people who work on Rejoinder; the Makefile calls them as `python -m scripts.NAME`."""
