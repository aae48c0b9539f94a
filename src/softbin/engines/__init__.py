"""Who adds up the blocks: threads here; the arithmetic does not know."""
