"""What an auditor also asks of the same scores: ROC, AUC, exposure, and what they say about epsilon.

In reading order: direction, auc, roc, band, epsilon, closeness, share_ratio, ranges, exposure.
"""
