"""The execution of conditions, from their first call to their estimates."""
