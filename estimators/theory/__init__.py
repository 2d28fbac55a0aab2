"""What theory promises about membership: differential privacy, and three papers, each beside its mended form."""
