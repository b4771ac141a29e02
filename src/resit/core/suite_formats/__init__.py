"""Reading suites from TOML, JSON, JSONL and CSV into one shape, with everything that is wrong in them."""
