"""The text of every rule, one file for each hundred of codes. Assembled in ``migrate_responses.rules``."""
