"""Replies and results in the forms of other tools."""
