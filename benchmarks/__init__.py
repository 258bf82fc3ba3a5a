"""What migrate-responses is compared with, and how: ``python -m benchmarks``."""
