"""What an audit leaves: its verdict as data, a page, JUnit XML, a badge, Markdown, a table."""
