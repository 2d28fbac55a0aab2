"""The tools whose results are read: a row each, with the names under which their files hold scores."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Columns:
    """Scores of all records, and 1 beside those of members; of two numbers a record the second is the score."""

    score: str
    member: str

    @property
    def names(self) -> tuple[str, str]:
        """What has to be there."""
        return self.score, self.member


@dataclass(frozen=True, slots=True)
class Sides:
    """Scores of each side by itself; ``sign`` is -1 where the lower speaks for membership."""

    members: str
    nonmembers: str
    sign: int = 1

    @property
    def names(self) -> tuple[str, str]:
        """What has to be there."""
        return self.members, self.nonmembers


@dataclass(frozen=True, slots=True)
class Peer:
    """A tool: where its files hold scores, what only its files hold, and what to save where there are no scores."""

    name: str
    title: str
    layouts: tuple[Columns | Sides, ...]
    save: str
    marks: frozenset[str] = frozenset()
    """Names by which a file without scores is still known as one of this tool's."""
    package: str = ""
    """What its pickles name in their first bytes."""
    recipe: tuple[str, ...] = ()
    """Lines of Python that write a pickle's scores as a file that is read here."""
    beside: str = ""
    """The name under which a file says which other file holds its scores."""
    of_several_models: str = ""
    """How files begin that hold one model's scores behind another's, of the same records."""


PEERS = (
    Peer(
        "leakpro",
        "LeakPro",
        (Columns("signal_values", "true_labels"),),
        "take data_objects/*.json of an attack that gives each record a signal; QMIA and YOQO count guesses alone",
        frozenset({"fixed_fpr", "result_type", "resulttype"}),
    ),
    Peer(
        "privacy-meter",
        "ML Privacy Meter",
        (Columns("scores", "memberships"),),
        "take exp/attack_result_N.npz of the report's folder",
        frozenset({"one_tenth_fpr", "zero_fpr"}),
        of_several_models="attack_result_average",
    ),
    Peer(
        "sacro-ml",
        "SACRO-ML",
        (Columns("individual.member_prob", "individual.member"), Columns("individual.score", "individual.member")),
        "run LiRA, QMIA or the worst-case attack with report_individual=True, and take report_arrays_*.npz beside its "
        "report",
        frozenset({"attack_instance_logger", "roc_thresh", "sacroml_version"}),
        beside="arrays_file",
    ),
    Peer(
        "art",
        "ART",
        (Sides("inferred_train", "inferred_test"), Columns("attack_proba", "attack_true")),
        "write numpy.savez('scores.npz', inferred_train=a, inferred_test=b), of infer(..., probabilities=True)",
    ),
    Peer(
        "tf-privacy",
        "TF Privacy",
        (
            Sides("membership_scores_train", "membership_scores_test"),
            Sides("loss_train", "loss_test", -1),
            Sides("entropy_train", "entropy_test", -1),
        ),
        "write numpy.savez('scores.npz', membership_scores_train=a, membership_scores_test=b), of a SingleAttackResult",
        frozenset({"logits_train", "probs_train"}),
        "tensorflow_privacy",
        (
            "import numpy, pickle",
            "result = pickle.load(open('results.pickle', 'rb')).single_attack_results[0]",
            "numpy.savez('scores.npz', membership_scores_train=result.membership_scores_train, "
            "membership_scores_test=result.membership_scores_test)",
        ),
    ),
    Peer(
        "privacyguard",
        "PrivacyGuard",
        (Sides("train_scores", "test_scores"),),
        "write json.dump(ScoreAnalysisNode(analysis_input).compute_outputs(), file)",
        frozenset({"eps_fpr_max_ub", "eps_cp", "eps_tpr_ub"}),
    ),
    Peer(
        "jax-privacy",
        "JAX-Privacy",
        (Sides("in_canary_scores", "out_canary_scores"),),
        "write numpy.savez('scores.npz', in_canary_scores=a, out_canary_scores=b), as CanaryScoreAuditor takes them",
    ),
)

BY_NAME = {peer.name: peer for peer in PEERS}
