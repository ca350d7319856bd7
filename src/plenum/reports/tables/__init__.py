"""The tables of a study: conditions, the 2x2 (Fig. 1B), the landscape (Table S8), effects."""
