// Watch.

views.set("watch", () => setLink(new URLSearchParams(), "watch"));
