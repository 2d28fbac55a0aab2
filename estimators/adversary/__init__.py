"""Decision rules, and how far they can be trusted: judged on unseen records from below, on their own from above."""
