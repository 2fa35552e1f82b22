import numpy as np
import prepared
import tune


def test_held_out_rows_come_from_the_training_rows():
    data = prepared.digits()
    part = tune.hold_out(data, seed=0, max_rows=500)
    assert len(part.y_train) == 400
    assert len(part.y_test) == 100
    known = {row.tobytes() for row in data.X_train}
    assert all(row.tobytes() in known for row in (*part.X_train, *part.X_test))
    assert np.array_equal(part.X_train, tune.hold_out(data, seed=0, max_rows=500).X_train)


def test_a_grid_is_every_combination():
    found = tune.configurations({"a": [1, 2], "b": [3]})
    assert found == [{"a": 1, "b": 3}, {"a": 2, "b": 3}]
    assert tune.configurations([{"a": 1}]) == [{"a": 1}]
