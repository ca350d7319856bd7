"""What tests and benchmarks share, and that is no test."""
