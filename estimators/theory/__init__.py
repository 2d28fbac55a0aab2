"""A wing: what theory promises about membership - differential privacy, and three papers, each beside its mended form.

Before any score is seen; ``agreement`` alone reads scores, beside a promise. The core imports none of it.
"""
