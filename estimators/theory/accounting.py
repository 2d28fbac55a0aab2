"""From how a model was trained to the epsilon it has, by a well-kept accountant."""
