"""Who may reach the server, and what they may do: hosts, headers, browsers, class mode, limits."""
