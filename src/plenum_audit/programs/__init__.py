"""Programs under audit: multi-agent systems that somebody else built."""
