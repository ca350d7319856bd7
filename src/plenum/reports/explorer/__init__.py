"""The explorer: a study's replicates and transcripts in one page without a network."""
