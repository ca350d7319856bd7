"""The papers: their numbered tables and figures, and the runs that their authors released."""
