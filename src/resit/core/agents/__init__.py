"""Command-line agents: started in an empty, isolated folder, read when they end, and their work verified."""
