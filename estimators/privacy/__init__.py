"""What an auditor also asks of the same scores: ROC, AUC, operating points, and what they say about epsilon.

In reading order: roc, epsilon, closeness.
"""
