"""What was seen: scores checked once, the cells they fall in, and the counts everything below reads."""
