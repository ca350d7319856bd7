"""Parts of the benchmark of gates, a module each with its `measure(quick)`."""
