"""What an auditor also asks of the same scores: ROC, AUC, exposure, and what they say about epsilon."""
