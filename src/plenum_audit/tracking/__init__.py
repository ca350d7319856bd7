"""Tracking of audits: the tables and tags of a program's runs."""
