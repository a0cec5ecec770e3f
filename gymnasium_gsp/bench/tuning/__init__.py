"""Choosing an algorithm's options for an environment: by a grid as the paper does, or by Optuna."""
