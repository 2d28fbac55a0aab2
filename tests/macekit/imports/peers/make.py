"""Files of other tools, written by these tools: `python make.py NAME`, in an environment that has the tool.

What each attack put into its file is written beside it, as `expected/NAME.json`, in the attack's own words.
"""

import json
import logging
import shutil
import sys
from contextlib import chdir
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace

import numpy as np

HERE = Path(__file__).parent
SIDE = 40


def signals() -> tuple[np.ndarray, np.ndarray]:
    """Losses of a model on both sides, members' lower, and who is a member, in a mixed order."""
    rng = np.random.default_rng(7)
    member = rng.permutation(np.repeat([True, False], SIDE))
    return np.round(rng.gamma(2.0, np.where(member, 0.2, 0.6)), 6), member


def sides() -> tuple[np.ndarray, np.ndarray]:
    """The losses of members, and of nonmembers."""
    loss, member = signals()
    return loss[member], loss[~member]


def expect(name: str, members: object, nonmembers: object) -> None:
    """Keep what the attack said of each record, members first."""
    text = {"members": np.ravel(members).tolist(), "nonmembers": np.ravel(nonmembers).tolist()}
    (HERE / "expected").mkdir(exist_ok=True)
    (HERE / "expected" / f"{name}.json").write_text(json.dumps(text) + "\n")


def leakpro() -> None:
    """A result with the signal of each record, and one that holds counts alone, as QMIA and YOQO give."""
    from leakpro.reporting.mia_result import MIAResult

    loss, member = signals()
    whole = MIAResult.from_full_scores(member.astype(int), -loss, "population", {"attack": "loss"})
    guesses = -loss >= np.quantile(-loss, 0.5)
    taken, left = (guesses & member, guesses & ~member), (~guesses & ~member, ~guesses & member)
    right = [np.sum(each) for each in (*taken, *left)]
    counted = MIAResult.from_confusion_counts(member.astype(int), *right, "qmia", {"attack": "qmia"})
    for result, name in ((whole, "leakpro"), (counted, "leakpro_counts")):
        with TemporaryDirectory() as folder:
            result.create_signal_histogram = lambda **_: None  # a picture of megabytes
            result.create_roc_plot = lambda *_, **__: None
            result.save(SimpleNamespace(attack_id=name), folder)
            shutil.copy(Path(folder) / "data_objects" / f"{name}.json", HERE)
    expect("leakpro", whole.signal_values[member], whole.signal_values[~member])


def privacy_meter() -> None:
    """The result of an attack on one model, and that of an audit of differential privacy over all models."""
    from attacks import run_loss
    from audit import get_all_dp_audit_results, get_audit_results

    loss, member = signals()
    scores = run_loss(loss)
    with TemporaryDirectory() as folder:
        get_audit_results(folder, 0, scores, member, logging.getLogger())
        get_all_dp_audit_results(folder, [scores], [member], logging.getLogger())
        shutil.copy(f"{folder}/attack_result_0.npz", HERE / "privacy_meter.npz")
        shutil.copy(f"{folder}/attack_result_average_dp.npz", HERE)
    expect("privacy_meter", scores[member], scores[~member])


def sacro_ml() -> None:
    """LiRA with the scores of each record, in the archive beside its report."""
    from sacroml.attacks.likelihood_attack import LIRAAttack
    from sacroml.attacks.target import Target
    from sklearn.datasets import load_breast_cancer
    from sklearn.tree import DecisionTreeClassifier

    X, y = load_breast_cancer(return_X_y=True)
    train, test = slice(0, SIDE), slice(SIDE, 2 * SIDE)
    model = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X[train], y[train])
    target = Target(
        model=model,
        X_train=X[train],
        y_train=y[train],
        X_test=X[test],
        y_test=y[test],
        X_train_orig=X[train],
        y_train_orig=y[train],
        X_test_orig=X[test],
        y_test_orig=y[test],
    )
    np.random.seed(0)  # noqa: NPY002  # which the attack draws from
    with TemporaryDirectory() as folder, chdir(folder):
        attack = LIRAAttack(output_dir="outputs", n_shadow_models=12, report_individual=True)
        report = attack.attack(target)
        shutil.copy("outputs/report.json", HERE / "sacro_ml.json")
        (arrays,) = Path("outputs").glob("*.npz")
        shutil.copy(arrays, HERE / "sacro_ml.npz")
    individual = report["attack_experiment_logger"]["attack_instance_logger"]["instance_0"]["individual"]
    scores, member = np.array(individual["member_prob"]), np.array(individual["member"])
    expect("sacro_ml", scores[member == 1], scores[member == 0])


def art() -> None:
    """Probabilities of the black-box attack, one a record, and of the rule-based one, two a record."""
    from art.attacks.inference.membership_inference import (
        MembershipInferenceBlackBox,
        MembershipInferenceBlackBoxRuleBased,
    )
    from art.estimators.classification import SklearnClassifier
    from sklearn.datasets import load_breast_cancer, load_wine
    from sklearn.ensemble import RandomForestClassifier

    X, y = load_breast_cancer(return_X_y=True)
    train, test = slice(0, 2 * SIDE), slice(2 * SIDE, 4 * SIDE)
    forest = RandomForestClassifier(20, random_state=0).fit(X[train], y[train])
    classifier = SklearnClassifier(forest)
    attack = MembershipInferenceBlackBox(classifier, attack_model_type="gb")
    attack.fit(X[:SIDE], y[:SIDE], X[2 * SIDE : 3 * SIDE], y[2 * SIDE : 3 * SIDE])
    held = slice(SIDE, 2 * SIDE), slice(3 * SIDE, 4 * SIDE)
    inferred_train, inferred_test = (attack.infer(X[part], y[part], probabilities=True) for part in held)
    np.savez_compressed(HERE / "art.npz", inferred_train=inferred_train, inferred_test=inferred_test)
    expect("art", inferred_train, inferred_test)

    wine, kind = load_wine(return_X_y=True)  # three classes: of two the attack gives one number a call
    order = np.random.default_rng(0).permutation(len(kind))
    train, test = order[:SIDE], order[SIDE : 2 * SIDE]
    stumps = RandomForestClassifier(2, max_depth=2, random_state=0).fit(wine[train], kind[train])
    rule = MembershipInferenceBlackBoxRuleBased(SklearnClassifier(stumps))
    parts = [rule.infer(wine[part], kind[part], probabilities=True) for part in (train, test)]
    true = np.repeat([1, 0], SIDE)
    np.savez_compressed(HERE / "art_rule.npz", attack_proba=np.concatenate(parts), attack_true=true)
    expect("art_rule", *(part[:, 1] for part in parts))


def tf_privacy() -> None:
    """Results as they are saved, a pickle; the scores of one of them as arrays, and what the attack was given."""
    from tensorflow_privacy.privacy.privacy_tests.membership_inference_attack import membership_inference_attack
    from tensorflow_privacy.privacy.privacy_tests.membership_inference_attack.data_structures import (
        AttackInputData,
        AttackResults,
    )

    given = AttackInputData(loss_train=sides()[0], loss_test=sides()[1])
    membership_inference_attack.run_attacks(given).save(HERE / "tf_privacy.pickle")

    result = AttackResults.load(HERE / "tf_privacy.pickle").single_attack_results[0]
    names = ("membership_scores_train", "membership_scores_test")
    np.savez_compressed(HERE / "tf_privacy.npz", **{name: getattr(result, name) for name in names})
    np.savez_compressed(HERE / "tf_privacy_losses.npz", loss_train=given.loss_train, loss_test=given.loss_test)
    for name in ("tf_privacy", "tf_privacy_losses"):
        expect(name, result.membership_scores_train, result.membership_scores_test)


def privacyguard() -> None:
    """The scores that an analysis gives out, and another analysis of the same, which is a summary."""
    import pandas as pd
    from privacy_guard.analysis.mia.aggregate_analysis_input import AggregateAnalysisInput, AggregationType
    from privacy_guard.analysis.mia.analysis_node import AnalysisNode
    from privacy_guard.analysis.mia.score_analysis_node import ScoreAnalysisNode

    train, test = (pd.DataFrame({"user_id": range(SIDE), "score": -loss}) for loss in sides())
    given = AggregateAnalysisInput(AggregationType.MAX, train, test, "user_id")
    scores = ScoreAnalysisNode(given).compute_outputs()
    summary = AnalysisNode(given, 1e-5, SIDE, num_bootstrap_resampling_times=10).compute_outputs()
    (HERE / "privacyguard.json").write_text(json.dumps(scores))
    (HERE / "privacyguard_summary.json").write_text(json.dumps(summary, default=np.ndarray.tolist))
    expect("privacyguard", given.df_train_user["score"], given.df_test_user["score"])


def jax_privacy() -> None:
    """Scores of canaries under the names by which the auditor takes them."""
    from jax_privacy.auditing import CanaryScoreAuditor

    loss_in, loss_out = sides()
    canaries = {"in_canary_scores": -loss_in, "out_canary_scores": -loss_out}
    assert CanaryScoreAuditor(**canaries).attack_auroc() > 0.5
    np.savez_compressed(HERE / "jax_privacy.npz", **canaries)
    expect("jax_privacy", -loss_in, -loss_out)


if __name__ == "__main__":
    for name in sys.argv[1:]:
        globals()[name.replace("-", "_")]()
