"""Rules by which a program may act without a person, and what they risk."""
