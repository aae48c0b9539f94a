"""Competitors, one adapter each. An adapter knows how its library spells what we measure, and nothing else."""
