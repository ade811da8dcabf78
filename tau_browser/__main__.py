"""`python -m tau_browser` is the same as `tau-browse`."""

import sys

from tau_browser.cli import main

sys.exit(main())
