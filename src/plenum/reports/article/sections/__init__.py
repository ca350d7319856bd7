"""What the sections of a report say: facts for their templates."""
