"""The papers' numbered results: where each comes from, its table, its figure, a page of all."""
