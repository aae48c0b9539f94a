"""Numbers out of whatever the caller has: tables, blocks of rows, sample weights."""
