"""Which part of a face is this pixel? Forests answer from the raw values around it.

A small relative of the experiment on Labeled Faces in the Wild in section 6.2 of the CO2 paper.
Faces are drawn, not photographed: of any size, place, tilt, colour and light, with clutter in front
and noise on top. Each pixel is labelled by itself, from the raw RGB values of the window around it,
none of which says much alone. Training windows are drawn equally from all parts, and the score is
the class-average Jaccard score, which counts an eyebrow as much as the background. Writes
``pixel_labelling.png`` if matplotlib is installed (``pip install '.[plot]'``).
"""

from __future__ import annotations

from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney import CO2ForestClassifier, GreedyForestClassifier
from spinney.images import PixelLabeler

SIDE, WINDOW = 48, (15, 15)
N_TRAIN, N_TEST, N_WINDOWS = 120, 20, 4500
N_TREES = (8, 24)
PARTS = (
    "background",
    "face",
    "nose",
    "mouth",
    "left eye",
    "right eye",
    "left brow",
    "right brow",
)
# Centre and radii of each part in units of half the height of a face; x to the right, y down.
SHAPES = {
    "face": (0.0, 0.0, 0.76, 1.0),
    "nose": (0.0, 0.12, 0.13, 0.25),
    "mouth": (0.0, 0.56, 0.3, 0.11),
    "left eye": (-0.32, -0.17, 0.18, 0.12),
    "right eye": (0.32, -0.17, 0.18, 0.12),
    "left brow": (-0.34, -0.45, 0.24, 0.09),
    "right brow": (0.34, -0.45, 0.24, 0.09),
}

Image = NDArray[np.uint8]
Labels = NDArray[np.int64]


def classifiers(n_trees: int) -> dict[str, Any]:
    """The forests to compare, all of `n_trees` trees."""
    common = {"n_estimators": n_trees, "n_jobs": -1, "random_state": 0}
    return {
        "random forest": GreedyForestClassifier(split="axis", **common),
        "two-probe forest": GreedyForestClassifier(split="probes", n_candidates=50, **common),
        "CO2 forest": CO2ForestClassifier(max_norm=100.0, max_epochs=20, **common),
    }


def main() -> None:
    """Print the scores of all forests and draw what the largest ones see."""
    faces = [draw_face(np.random.default_rng(seed)) for seed in range(N_TRAIN + N_TEST)]
    images, truth = [face[0] for face in faces], [face[1] for face in faces]
    outputs = {}
    print(f"{'class-average Jaccard, %':<26}{'trees':>6}{'score':>8}{'seconds':>9}")
    for n_trees in N_TREES:
        for name, classifier in classifiers(n_trees).items():
            start = perf_counter()
            model = labeler(classifier).fit(images[:N_TRAIN], truth[:N_TRAIN])
            score = model.score(images[N_TRAIN:], truth[N_TRAIN:])
            seconds = perf_counter() - start
            print(f"{name:<26}{n_trees:>6}{100 * score:>8.1f}{seconds:>9.1f}")
            outputs[name] = model.predict(images[-4:])
    draw(images[-4:], {"truth": truth[-4:], **outputs})


def labeler(classifier: Any) -> PixelLabeler:
    """Labels pixels with a classifier.

    Not reweighted: the leaves of full-grown trees are pure, and weighing them tree by tree would
    change nothing; weighing their average drowns the small parts, the more trees the more so.
    """
    return PixelLabeler(classifier, WINDOW, n_windows=N_WINDOWS, reweight=False, random_state=0)


def draw_face(rng: np.random.Generator) -> tuple[Image, Labels]:
    """An RGB image of one face, and the part that each pixel belongs to."""
    pixels = rng.uniform(40, 215, 3) * np.ones((SIDE, SIDE, 3))
    labels = np.zeros((SIDE, SIDE), dtype=np.int64)
    add_clutter(pixels, labels, rng, n_pieces=12)
    x, y = face_coordinates(rng)
    colors = part_colors(rng)
    for part, (x0, y0, x_radius, y_radius) in SHAPES.items():
        is_inside = ((x - x0) / x_radius) ** 2 + ((y - y0) / y_radius) ** 2 < 1
        pixels[is_inside], labels[is_inside] = colors[part], PARTS.index(part)
    add_clutter(pixels, labels, rng, n_pieces=3)
    pixels *= lighting(rng)[..., None]
    pixels += rng.normal(0, 14, pixels.shape)
    return pixels.clip(0, 255).astype(np.uint8), labels


def face_coordinates(rng: np.random.Generator) -> NDArray[np.float64]:
    """Place of each pixel as seen from a face of random size, place and tilt."""
    size = rng.uniform(11, 16)
    center = rng.uniform(SIDE / 2 - 6, SIDE / 2 + 6, 2)
    tilt = rng.uniform(-0.3, 0.3)
    rows, columns = np.mgrid[:SIDE, :SIDE]
    down, along = (rows - center[0]) / size, (columns - center[1]) / size
    x = np.cos(tilt) * along + np.sin(tilt) * down
    y = np.cos(tilt) * down - np.sin(tilt) * along
    return np.stack([x, y])


def part_colors(rng: np.random.Generator) -> dict[str, NDArray[np.float64]]:
    """A skin of any shade, and the colours that go with it."""
    skin = rng.uniform(130, 220) * np.array([1.0, rng.uniform(0.7, 0.9), rng.uniform(0.5, 0.8)])
    hair, iris = skin * rng.uniform(0.25, 0.5), skin * rng.uniform(0.2, 0.6)
    return {
        "face": skin,
        "nose": skin * rng.uniform(0.8, 1.15),
        "mouth": skin * np.array([1.0, rng.uniform(0.5, 0.8), rng.uniform(0.6, 0.9)]),
        "left eye": iris,
        "right eye": iris,
        "left brow": hair,
        "right brow": hair,
    }


def add_clutter(
    pixels: NDArray[np.float64], labels: Labels, rng: np.random.Generator, *, n_pieces: int
) -> None:
    """Paint slanted ellipses of any colour over what is there; they are background."""
    rows, columns = np.mgrid[:SIDE, :SIDE]
    for _ in range(n_pieces):
        center, slant = rng.uniform(0, SIDE, 2), rng.uniform(0, np.pi)
        down, along = rows - center[0], columns - center[1]
        a = (np.cos(slant) * along + np.sin(slant) * down) / rng.uniform(2, 9)
        b = (np.cos(slant) * down - np.sin(slant) * along) / rng.uniform(1, 4)
        is_covered = a**2 + b**2 < 1
        pixels[is_covered], labels[is_covered] = rng.uniform(20, 235, 3), 0


def lighting(rng: np.random.Generator) -> NDArray[np.float64]:
    """Brightness that changes steadily across the image in a random direction."""
    rows, columns = np.mgrid[:SIDE, :SIDE] / SIDE - 0.5
    angle = rng.uniform(0, 2 * np.pi)
    return np.asarray(1 + rng.uniform(0, 0.5) * (np.cos(angle) * rows + np.sin(angle) * columns))


def draw(images: list[Image], outputs: dict[str, list[Labels]]) -> None:
    """Inputs, the truth and what each forest makes of them, side by side."""
    try:
        from matplotlib.colors import ListedColormap
        from matplotlib.figure import Figure
        from matplotlib.patches import Patch
    except ImportError:
        print("no picture: matplotlib is not installed")
        return
    colors = ["#d9d9d9", "#35394a", "#e8b48c", "#f08a3c", "#d1345b", "#3f8efc", "#1f4ea1"]
    colors += ["#3fb871", "#1b6e3c"]  # the first is for pixels that have no window
    figure = Figure(figsize=(2.1 * (1 + len(outputs)), 2.1 * len(images)), layout="constrained")
    panels = figure.subplots(len(images), 1 + len(outputs), subplot_kw={"xticks": [], "yticks": []})
    for number, image in enumerate(images):
        panels[number, 0].imshow(image)
        for panel, labels in zip(panels[number, 1:], outputs.values(), strict=True):
            panel.imshow(labels[number], cmap=ListedColormap(colors), vmin=-1.5, vmax=7.5)
    for panel, name in zip(panels[0], ["image", *outputs], strict=True):
        panel.set_title(name, fontsize=9)
    patches = [Patch(color=color) for color in colors[1:]]
    figure.legend(patches, PARTS, loc="outside lower center", ncols=len(PARTS), fontsize=8)
    figure.savefig("pixel_labelling.png", dpi=120)
    print("pixel_labelling.png written")


if __name__ == "__main__":
    main()
