"""Studies as single files (Data S1): export, verification, and import into a tracking store."""
