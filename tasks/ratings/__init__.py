"""Ratings by people: files, and public sets of the catalogue, read into one table, with the texts that were rated."""
