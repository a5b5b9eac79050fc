"""What makes the site of the pages in docs/: see tree.py for how pages are put together, site.py for how it is built."""
