"""The exam without a screen: suites, asking, scoring, spending, rounds. Draws nothing, prints nothing."""
