"""How far apart two copies of one noise are when one of them is shifted."""
