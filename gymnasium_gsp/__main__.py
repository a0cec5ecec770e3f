"""`python -m gymnasium_gsp` is `gsp`."""

from gymnasium_gsp.cli import main

main()
