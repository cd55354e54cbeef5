"""Who may reach the server, and what they may do: hosts, headers, class mode, limits."""
