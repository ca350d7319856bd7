"""What every kind of study is shown with: tables, formats, renderers, the page, the style."""
