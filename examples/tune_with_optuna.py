"""Tune gradient boosting on a raw table with Optuna, over ranges that make sense.

The table has numbers, categories, a date and holes; the estimator reads it as it is. What it
learns of the columns it learns anew in every fold, so no trial has seen the rows that judge it.
Needs optuna and pandas: ``pip install optuna pandas``.

    python examples/tune_with_optuna.py --trials 10
"""

from __future__ import annotations

import argparse

import numpy as np
import pandas as pd
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold, cross_val_score, train_test_split

from spinney import TAOGradientBoostingClassifier

try:
    import optuna
except ImportError as error:
    raise SystemExit("this example needs optuna: pip install optuna") from error


def main(arguments: list[str] | None = None) -> None:
    """Search on training rows, then fit once more and judge on test rows."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=10)
    parser.add_argument("--rows", type=int, default=3000, help="of the table, most for testing")
    chosen = parser.parse_args(arguments)
    X, y = customers(chosen.rows)
    X_train, X_test, y_train, y_test = train_test_split(
        X, y, test_size=0.6, stratify=y, random_state=0
    )
    usual = boosting(n_estimators=30, learning_rate=0.1, max_depth=4).fit(X_train, y_train)
    print(f"untuned: test AUC {auc(usual, X_test, y_test):.3f}")

    def judge(trial: optuna.Trial) -> float:
        folds = StratifiedKFold(3, shuffle=True, random_state=0)
        model = boosting(**suggested(trial))
        return float(cross_val_score(model, X_train, y_train, cv=folds, scoring="roc_auc").mean())

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=0))
    # The usual values first: the search can only be better on the rows it sees.
    study.enqueue_trial({"n_estimators": 30, "learning_rate": 0.1, "max_depth": 4, "alpha": 0.1})
    study.optimize(judge, n_trials=chosen.trials)
    best = boosting(**study.best_params).fit(X_train, y_train)
    found = f"AUC {study.best_value:.3f} in the folds: {study.best_params}"
    print(f"best of {chosen.trials} trials, {found}")
    print(f"with it: test AUC {auc(best, X_test, y_test):.3f}")
    shares = dict(zip(X.columns, best.feature_importances_.round(2).tolist(), strict=True))
    print(f"importances of the columns: {shares}")


def auc(model: TAOGradientBoostingClassifier, X: pd.DataFrame, y: np.ndarray) -> float:
    """Area under the ROC curve."""
    return float(roc_auc_score(y, model.predict_proba(X)[:, 1]))


def suggested(trial: optuna.Trial) -> dict[str, float]:
    """Ranges: penalties and rates in logarithms, trees shallow, rounds few for a first look."""
    return {
        "n_estimators": trial.suggest_int("n_estimators", 10, 40),
        "learning_rate": trial.suggest_float("learning_rate", 0.03, 0.4, log=True),
        "max_depth": trial.suggest_int("max_depth", 2, 5),
        "alpha": trial.suggest_float("alpha", 0.01, 10.0, log=True),
        "leaf_alpha": trial.suggest_float("leaf_alpha", 0.1, 30.0, log=True),
        "ridge": trial.suggest_float("ridge", 0.003, 0.3, log=True),
        "split": trial.suggest_categorical("split", ["mixed", "axis"]),
    }


def boosting(**params: float) -> TAOGradientBoostingClassifier:
    """Few sweeps a tree: enough for a search."""
    return TAOGradientBoostingClassifier(max_sweeps=3, random_state=0, **params)


def customers(n_rows: int) -> tuple[pd.DataFrame, np.ndarray]:
    """A made-up table: who leaves depends on age, town and on not having told the income."""
    rng = np.random.default_rng(0)
    towns = np.array([f"town {number}" for number in range(60)])
    town_effect = rng.normal(size=60)
    town = rng.integers(0, 60, n_rows)
    age, income = rng.normal(45, 15, n_rows), rng.lognormal(10, 0.5, n_rows)
    is_silent = rng.random(n_rows) < 0.2
    plan = rng.choice(["basic", "family", "gold"], n_rows)
    score = 0.04 * (age - 45) + town_effect[town] + 1.5 * is_silent - 1.0 * (plan == "gold")
    table = pd.DataFrame(
        {
            "age": np.where(rng.random(n_rows) < 0.1, np.nan, age),
            "income": np.where(is_silent, np.nan, income),
            "plan": pd.Categorical(plan),
            "town": towns[town],
            "since": pd.Timestamp(2020, 1, 1) + pd.to_timedelta(rng.integers(0, 2000, n_rows), "D"),
        }
    )
    return table, (score + rng.logistic(size=n_rows) > 0).astype(int)


if __name__ == "__main__":
    main()
