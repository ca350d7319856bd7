"""Programs under audit: external multi-agent systems."""
