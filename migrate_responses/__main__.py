"""``python -m migrate_responses`` is the same as ``migrate-responses``."""

from migrate_responses.cli import main

if __name__ == "__main__":
    main()
