"""What kinds of algorithms there are, by their recipes."""

import gymnasium_gsp as gsp


def averages(name):
    """Whether an algorithm averages what it samples, in every node of a trail: all slots may then be chosen."""
    recipe = gsp.make_recipe(name)
    sampled_tree = isinstance(recipe.evaluation, gsp.ingredients.SampledTree)
    if isinstance(recipe.root_allocation, gsp.ingredients.GumbelHalving):  # halves the root's actions by itself
        return False
    return recipe.optimism is None and recipe.learning == "on_the_trail" and not sampled_tree
