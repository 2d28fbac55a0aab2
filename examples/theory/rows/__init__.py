"""The cases of the enumeration table: a truth gone through by hand, our bound, and what a paper prints."""
