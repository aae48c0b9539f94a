"""Measurements: one file per operation, one adapter per competitor. ``core.py`` is the command."""
