"""What an auditor also asks of the same scores: ROC, AUC, exposure, and what they say about epsilon.

In reading order: roc, ceilings, epsilon, closeness, windows, best_set, exposure.
"""
