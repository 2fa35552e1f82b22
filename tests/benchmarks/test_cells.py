import cells
import pytest
from cell_file import read_cells
from cells import CellStore

NAME = "a_table.jsonl"
SETTINGS = {"kind": "cart", "params": {"max_depth": 3}, "seed": 0}


def measured_once(store: CellStore, label: str = "a") -> int:
    calls = []
    store.get(label, SETTINGS, lambda: calls.append(1) or {"test_error": 1.0})
    return len(calls)


def test_a_finished_cell_is_not_measured_again(tmp_path):
    assert measured_once(CellStore(tmp_path / NAME)) == 1
    assert measured_once(CellStore(tmp_path / NAME)) == 0


def test_a_cell_is_found_under_a_new_label(tmp_path):
    measured_once(CellStore(tmp_path / NAME), "old label")
    assert measured_once(CellStore(tmp_path / NAME), "new label") == 0


def test_other_settings_are_another_cell(tmp_path):
    measured_once(CellStore(tmp_path / NAME))
    assert CellStore(tmp_path / NAME).find("a", {**SETTINGS, "seed": 1}) is None


def test_force_measures_once_a_run(tmp_path):
    measured_once(CellStore(tmp_path / NAME, run="first"))
    forced = CellStore(tmp_path / NAME, force=True, run="second")
    assert measured_once(forced) == 1
    assert measured_once(forced) == 0
    assert len(read_cells(tmp_path / NAME)) == 1


def test_a_failed_measurement_leaves_no_file(tmp_path):
    def fail() -> dict:
        raise RuntimeError("stopped")

    with pytest.raises(RuntimeError, match="stopped"):
        CellStore(tmp_path / NAME).get("a", SETTINGS, fail)
    assert not list(tmp_path.iterdir())


def test_cells_of_another_build_are_named_until_measured_anew(tmp_path, monkeypatch):
    ours = {**SETTINGS, "kind": "spinney"}
    CellStore(tmp_path / NAME).save("ours", ours, {})
    monkeypatch.setattr(cells, "build_digest", lambda: "another")
    store = CellStore(tmp_path / NAME)
    store.find("ours", ours)
    assert "ours" in store.take_cautions()[0]
    assert store.take_cautions() == []


def test_cautions_name_a_model_once_and_count_searches(tmp_path, monkeypatch):
    store = CellStore(tmp_path / NAME)
    labels = ["letter-TAO-s0", "letter-TAO-s12", "letter-search-TAO-alpha=1", "letter-search-TAO"]
    for seed, label in enumerate(labels):
        settings = {"kind": "spinney", "seed": seed}
        store.save(label, settings, {"test_error": 1.0})
        monkeypatch.setattr(cells, "build_digest", lambda: "newer")
        assert store.find(label, settings) is not None
        monkeypatch.undo()
    (caution,) = store.take_cautions()
    assert caution.endswith("another build of spinney: letter-TAO; 2 fits of searches")
    assert store.take_cautions() == []
