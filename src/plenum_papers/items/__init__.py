"""The papers' numbered results: their studies, tables and figures, and a page of all of them."""
