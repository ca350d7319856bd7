"""A page of prose, tables and figures: its parts, and how they are written as HTML or Markdown."""
