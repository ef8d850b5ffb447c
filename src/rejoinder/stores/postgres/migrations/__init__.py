"""The way from one version of the tables to the next, for Alembic; `rejoinder.stores.postgres.migrate` goes it.

A migration is named `NNNN_pre_…` if it has to be there before the code that needs it runs, and the code before it
can live with it; `NNNN_post_…` if it may come while that code runs already. Neither rewrites a table that can be
large, nor locks one against reading or writing for longer than a moment. There is no way back: what a migration
adds, the code before it does not see.
"""
