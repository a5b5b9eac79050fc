"""Prefect flows: one module per flow, and the entry point."""
