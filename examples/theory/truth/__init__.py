"""Small cases gone through one by one, with NumPy and SciPy alone: nothing here knows the library that is judged."""
