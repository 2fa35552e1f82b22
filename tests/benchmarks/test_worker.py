import pytest
import worker

OURS = {"kind": "spinney", "estimator": "FAOForestClassifier"}


def test_a_search_on_some_rows_scales_what_counts_against_a_sum_over_rows():
    params = {"alpha": 0.8, "ridge": 0.4, "leaf_alpha": 5.0, "max_depth": 6}
    found = worker.for_rows(OURS | {"params": params}, 0.25)
    assert found["params"] == {"alpha": 0.2, "ridge": 0.1, "leaf_alpha": 5.0, "max_depth": 6}
    assert params["alpha"] == 0.8


def test_both_ends_of_a_path_are_scaled():
    found = worker.for_rows(OURS | {"params": {"alpha": [0.002, 200.0]}}, 0.5)
    assert found["params"]["alpha"] == [0.001, 100.0]


@pytest.mark.parametrize("kind", ["rf", "xgboost"])
def test_settings_of_others_stay(kind):
    settings = {"kind": kind, "params": {"alpha": 1.0}}
    assert worker.for_rows(settings, 0.5) == settings
