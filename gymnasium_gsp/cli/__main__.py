"""`python -m gymnasium_gsp.cli` is `gsp`."""

from gymnasium_gsp.cli import main

main()
