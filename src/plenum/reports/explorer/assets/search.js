// Search.

views.set("search", () => setLink(new URLSearchParams(), "search"));
