"""From statements to a decision: limits and plans, several answers side by side, and everything in one report."""
