"""A model is trained, attacked by its own loss, and what the attack finds is logged to the run that trained it.

    MLFLOW_ALLOW_FILE_STORE=true python examples/mlflow/log_run.py ./mlruns

It needs mlflow or mlflow-skinny. Any store does: name a server's address in place of the folder.
"""

import sys
from pathlib import Path

import mlflow
import numpy as np
from sklearn.ensemble import RandomForestClassifier

import macekit
import macekit.mlflow


def losses(model: RandomForestClassifier, features: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """The cross-entropy of each record: what an adversary who can query the model computes."""
    likely = model.predict_proba(features)[np.arange(len(labels)), labels]
    return -np.log(np.clip(likely, 1e-6, None))


def main(store: str) -> None:
    """Train, score members and nonmembers, and log."""
    mlflow.set_tracking_uri(store if "://" in store else Path(store).resolve().as_uri())
    rng = np.random.default_rng(0)
    features = rng.normal(size=(1200, 5))
    labels = (features[:, 0] + rng.normal(size=1200) > 0).astype(int)
    training, holdout = slice(600), slice(600, None)
    with mlflow.start_run() as run:
        for depth in (2, 14):
            with mlflow.start_run(nested=True, run_name=f"depth {depth}"):
                model = RandomForestClassifier(100, max_depth=depth, random_state=0)
                model.fit(features[training], labels[training])
                mlflow.log_param("max_depth", depth)
                result = macekit.report(
                    -losses(model, features[training], labels[training]),
                    -losses(model, features[holdout], labels[holdout]),
                    max_advantage=0.2,
                )
                macekit.mlflow.log(result)
                print(f"depth {depth}: {result.decision}: {result.sentence}")
    print(f"run {run.info.run_id} in {store}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "mlruns")
