"""Committees: their seats, prompts, answers, deliberation and decision."""
