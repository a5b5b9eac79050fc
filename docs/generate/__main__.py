"""`python -m docs.generate [FOLDER]`: build the site into a folder, build/site if none is given. Warnings are errors."""

import sys
from pathlib import Path

from docs.generate.site import SITE, build_site

sys.exit(build_site(Path(sys.argv[1]) if len(sys.argv) > 1 else SITE))
