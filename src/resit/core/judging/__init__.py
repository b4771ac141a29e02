"""From scores to a decision that holds: comparison, gates, routing. Nothing here makes a call."""
