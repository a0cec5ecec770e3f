"""The cards of standard environments: resumable, readable, and shown in docs/evaluation.md as they are."""

import pytest

from benchmarks import cards
from gymnasium_gsp import RecipeError
from gymnasium_gsp.bench.card import read_card


def test_missing_cards_are_played_and_the_others_left_alone(tmp_path):
    few = {"GSP/FrozenLake-v0": 2}
    (first,) = cards.cards(tmp_path, few)
    path = cards.card_file("GSP/FrozenLake-v0", tmp_path)
    written = path.read_bytes()
    both = list(cards.cards(tmp_path, {**few, "CliffWalking-v1": 1}))
    assert [card.environment for card in both] == ["GSP/FrozenLake-v0", "CliffWalking-v1"]
    assert both[0] == first
    assert path.read_bytes() == written
    path.write_bytes(written[:100])
    with pytest.raises(RecipeError, match="is no evaluation card"):
        list(cards.cards(tmp_path, few))


@pytest.mark.parametrize("env", cards.EPISODES)
def test_the_cards_of_the_repository_are_of_these_episodes_and_stand_in_the_document(env):
    card = read_card(cards.card_file(env))
    assert (card.environment, len(card.returns), card.access) == (env, cards.EPISODES[env], "simulator")
    assert cards.table([card])[-1] in cards.PAGE.read_text(encoding="utf-8")
