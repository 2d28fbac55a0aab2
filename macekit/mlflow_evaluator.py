"""An evaluator for ``mlflow.models.evaluate(evaluators="mace")``: what a model gives away, with the gate's verdict.

MLflow finds it by its entry point, whatever the type of the model. It is asked of a table with members and nonmembers
together: of a column of scores, or of what the model predicts beside what is true.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from mlflow.exceptions import MlflowException
from mlflow.models.evaluation.artifacts import JsonEvaluationArtifact
from mlflow.models.evaluation.base import EvaluationResult, ModelEvaluator
from mlflow.protos.databricks_pb2 import BAD_REQUEST, INVALID_PARAMETER_VALUE

import macekit
from macekit.client.result import Result
from macekit.mlflow import log, metrics_of

OWN = ("member", "members", "score", "prefix", "require_pass")
"""What is the evaluator's own; everything else in its configuration is an option of the question."""

ROWS = ("group", "unit", "cluster")  # columns that say something of a row, and that no model reads


class MembershipEvaluator(ModelEvaluator):
    """What a model gives away about who was in its training set, in the metrics, tags and artefacts of the run.

    The keys of ``evaluator_config``:

    * ``member``: the column that says whose rows the model was trained on; of text, ``members`` is their value;
    * ``score``: a column of scores; without it the predictions are audited beside the ``targets``;
    * ``require_pass``: raise if the verdict is no pass, once all is logged. False by default;
    * ``prefix``: what names of metrics and tags start with; ``membership`` by default;
    * all options of ``macekit.gate``, or without ``score`` those of ``macekit.audit_predictions``.

    Example:
        >>> import mlflow
        >>> import numpy as np
        >>> import pandas as pd
        >>> rng = np.random.default_rng(0)
        >>> trained_on = np.repeat([True, False], 500)
        >>> table = pd.DataFrame({"loss": rng.normal(-0.5 * trained_on), "trained_on": trained_on})
        >>> config = {"member": "trained_on", "score": "loss", "max_advantage": 0.9}
        >>> ways = {"model_type": "membership", "evaluators": "mace", "evaluator_config": config}
        >>> with mlflow.start_run():
        ...     result = mlflow.models.evaluate(data=table, **ways)
        >>> result.metrics["membership/limits.advantage/maximum"]
        0.9
    """

    @classmethod
    def can_evaluate(cls, *, model_type: str | None, evaluator_config: Mapping[str, Any], **_: object) -> bool:
        """Whatever the type of the model; without a column of members there is nothing to compare."""
        return "member" in evaluator_config

    def evaluate(
        self, *, dataset: Any, run_id: str, evaluator_config: Mapping[str, Any], model: Any = None, **_: object
    ) -> EvaluationResult:
        """Ask, log and return; raise afterwards if a pass is required and the verdict is another."""
        config = dict(evaluator_config)
        prefix = config.get("prefix", "membership")
        options = {name: value for name, value in config.items() if name not in OWN}
        result = _result(dataset, model, config, options)
        log(result, prefix, run_id)
        content = JsonEvaluationArtifact(  # type: ignore[no-untyped-call]
            f"runs:/{run_id}/{prefix}/answer.json", result.answer
        )
        if config.get("require_pass", False) and result.decision != "pass":
            raise MlflowException(f"{result.decision}: {result.sentence}", error_code=BAD_REQUEST)
        metrics = {f"{prefix}/{name}": value for name, value in metrics_of(result).items()}
        artefacts = {f"{prefix}/answer": content}
        return EvaluationResult(metrics, artefacts, run_id)  # type: ignore[no-untyped-call]


def _result(dataset: Any, model: Any, config: Mapping[str, Any], options: Mapping[str, Any]) -> Result:
    """The answer about scores, or about predictions."""
    table = dataset.features_data
    names = [str(name) for name in getattr(table, "columns", ())]
    for role in ("member", "score"):
        name = config.get(role)
        if name is not None and name not in names:
            raise _refusal(f"{role}: the data have no column {name!r}; it has {', '.join(names) or 'none'}")
    if "score" not in config:
        return _of_predictions(dataset, model, config, options)
    member = config["member"] if "members" not in config else f"{config['member']}={config['members']}"
    return macekit.gate(table, score=config["score"], member=member, **options)


def _of_predictions(dataset: Any, model: Any, config: Mapping[str, Any], options: Mapping[str, Any]) -> Result:
    """The answer about what is predicted of the rows of either side."""
    if dataset.labels_data is None:
        message = "neither a score nor targets: name a column of scores, or the targets that are predicted"
        raise _refusal(message)
    table = dataset.features_data
    labels = [config["member"], *(options[role] for role in ROWS if isinstance(options.get(role), str))]
    features = table.drop(columns=[name for name in labels if name in table.columns])
    predictions = dataset.predictions_data if model is None else model.predict(features)
    if predictions is None:
        raise _refusal("neither a model nor predictions: give one of them, or name a column of scores")
    columns = {"truth": np.asarray(dataset.labels_data)} | _columns(predictions)
    columns |= {name: table[name].to_numpy() for name in labels[1:]}
    inside = _inside(table[config["member"]].to_numpy(), config)
    sides = ({name: column[rows] for name, column in columns.items()} for rows in (inside, ~inside))
    return macekit.audit_predictions(*sides, truth="truth", **options)


def _columns(predictions: Any) -> dict[str, np.ndarray[Any, Any]]:
    """What is predicted, a column a class."""
    if hasattr(predictions, "columns"):
        return {str(name): predictions[name].to_numpy() for name in predictions.columns}
    array = np.asarray(predictions)
    if array.ndim == 1:
        return {"prediction": array}
    return {f"class {place}": column for place, column in enumerate(array.T)}


def _inside(member: np.ndarray[Any, Any], config: Mapping[str, Any]) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Which rows are the members'."""
    if "members" in config:
        return np.asarray(member == config["members"])
    if set(np.unique(member).tolist()) != {0, 1}:
        raise _refusal("member: need 0 and 1, or false and true; of another column name the members' value")
    return np.asarray(member, dtype=np.bool_)


def _refusal(message: str) -> MlflowException:
    return MlflowException(message, error_code=INVALID_PARAMETER_VALUE)
