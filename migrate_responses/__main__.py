"""The entry point, both as ``migrate-responses`` and as ``python -m migrate_responses``."""

from __future__ import annotations

import sys
from typing import NoReturn


def main() -> NoReturn:
    """Run the command line; an interruption takes one line even while it is still being loaded."""
    try:
        from migrate_responses import cli

        cli.main()
    except KeyboardInterrupt:
        sys.stderr.write("Interrupted; nothing was written.\n")
        sys.exit(130)


if __name__ == "__main__":
    main()
