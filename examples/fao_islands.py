"""Why one jointly optimised forest overfits, and what averaging does about it.

A forest of T trees cuts the plane into the intersections of its leaves. Each leaf is fitted where
the rows are; where the far ends of several leaves meet, their errors add up, and an island of large
error appears between rows that are all fitted well (fig. 2 of the FAO paper). Forests from other
starts have their islands elsewhere, so the average is smooth. Writes ``fao_islands.png`` if
matplotlib is installed (``pip install '.[plot]'``).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from spinney import FAOForestRegressor

N_ROWS, N_FORESTS = 500, 12


def truth(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """A smooth function without noise: whatever error there is comes from the forest."""
    x, y = points.T
    return np.asarray(np.sin(3 * x) * np.cos(2 * y) + 0.5 * x * y)


def main() -> None:
    """Compare forests and their average on the rows and on the whole square, then draw them."""
    rng = np.random.default_rng(0)
    rows = rng.uniform(-2, 2, (N_ROWS, 2))
    axis = np.linspace(-2, 2, 160)
    square = np.column_stack([part.ravel() for part in np.meshgrid(axis, axis)])
    errors = {}
    print(f"{'':<22}{'error on the rows':>20}{'on the square':>16}{'worst point':>14}")
    for n_forests in (1, 3, N_FORESTS):
        model = FAOForestRegressor(
            n_forests, 5, max_depth=7, alpha=0.0, leaf_alpha=0.001, random_state=0, n_jobs=-1
        ).fit(rows, truth(rows))
        error = model.predict(square) - truth(square)
        errors[n_forests] = error
        on_rows = model.predict(rows) - truth(rows)
        name = f"{n_forests} forest{'s averaged' if n_forests > 1 else ''}"
        print(f"{name:<22}{rms(on_rows):>20.3f}{rms(error):>16.3f}{np.abs(error).max():>14.2f}")
    draw(rows, errors)


def rms(values: NDArray[np.float64]) -> float:
    """Root mean square."""
    return float(np.sqrt(np.mean(values**2)))


def draw(rows: NDArray[np.float64], errors: dict[int, NDArray[np.float64]]) -> None:
    """Signed error on the square, blue to red, with the training rows as dots."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        print("no picture: matplotlib is not installed")
        return
    figure = Figure(figsize=(4 * len(errors), 4), layout="constrained")
    for panel, (n_forests, error) in zip(
        figure.subplots(1, len(errors), sharey=True), errors.items(), strict=True
    ):
        side = int(np.sqrt(len(error)))
        image = error.reshape(side, side)
        panel.imshow(image, cmap="RdBu_r", vmin=-1, vmax=1, origin="lower", extent=(-2, 2, -2, 2))
        panel.plot(*rows.T, "k.", markersize=1.5)
        panel.set_title(f"{n_forests} forest{'s averaged' if n_forests > 1 else ''}")
    figure.suptitle("Error of forests of 5 trees; dots are training rows")
    figure.savefig("fao_islands.png", dpi=120)
    print("fao_islands.png written")


if __name__ == "__main__":
    main()
