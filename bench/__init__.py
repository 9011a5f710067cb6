"""Measures `celld-py dev`, and `wrangler dev` beside it: ``python -m bench --help``."""
