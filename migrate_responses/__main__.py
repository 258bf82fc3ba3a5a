"""The entry point, both as ``migrate-responses`` and as ``python -m migrate_responses``."""

import sys

if __name__ == "__main__" and not getattr(sys.flags, "safe_path", False):
    # ``python -m`` puts the current directory first in the path, and with it a `click.py` or `typing.py` of
    # the code that is to be read. It goes before anything is imported, unless this program is there.
    _here = sys.path.pop(0)
    if __file__.startswith(_here) and "site-packages" not in __file__[len(_here) :]:
        sys.path.append(_here)

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
