"""Write a file of every family for this version of the format, with what the models predict.

    python -m tests.compat.make_files

Run it once for a new version, when it is released, and commit the folder. Files of a released
version are never written again: the script refuses to, unless told so. Until a version is released,
``--missing`` adds the families that are new and leaves all other files as they are.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import spinney
from spinney.export.document import VERSION
from tests.compat.models import MAKERS, answers, small_model

FOLDER = Path(__file__).parent
N_ROWS = 12


def judged_rows() -> np.ndarray:
    """Rows on a grid of eighths, of which some lie on splits."""
    return np.random.default_rng(11).integers(-24, 25, (N_ROWS, 3)) / 8.0


def write_files(folder: Path, names: list[str], said: dict[str, np.ndarray]) -> None:
    """One file a family, and the answers of these and those known in ``answers.npz``."""
    folder.mkdir(exist_ok=True)
    for name in names:
        model = small_model(name)
        spinney.save(model, folder / f"{name}.spinney")
        for method, values in answers(model, judged_rows()).items():
            said[f"{name}/{method}"] = values
    np.savez_compressed(folder / "answers.npz", **said)


def main() -> int:
    folder = FOLDER / f"v{VERSION}"
    names, said = sorted(MAKERS), {}
    if folder.exists() and "--missing" in sys.argv:
        names = [name for name in names if not (folder / f"{name}.spinney").exists()]
        with np.load(folder / "answers.npz") as known:
            said = dict(known)
    elif folder.exists() and "--again" not in sys.argv:
        print(f"{folder} exists; give --again or --missing if this version was never released.")
        return 1
    write_files(folder, names, said)
    print(f"{folder}: {sum(path.stat().st_size for path in folder.iterdir())} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
