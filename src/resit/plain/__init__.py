"""The text front end: events as lines, tables as text, notes on standard error. A module per command."""
