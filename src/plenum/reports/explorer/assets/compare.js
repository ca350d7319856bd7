// Compare two conditions.

views.set("compare", () => setLink(new URLSearchParams(), "compare"));
