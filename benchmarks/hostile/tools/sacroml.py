"""SACRO-ML: its worst-case attack, ten forests on held-out records (no dummies), and their p-values of the AUC."""

import logging
import tempfile
from importlib import import_module

import numpy as np

from benchmarks.hostile.question import NotAsked, Question, Statement

NAME = "SACRO-ML"
NEEDS = "sacroml==2.0.1"
RUNS = 8


def ask(question: Question) -> Statement:
    """Its advantage is that of equal sides; it says so if any p-value stands after correction."""
    if question.members.dtype.kind != "f" or question.prior != 0.5:
        raise NotAsked("numbers, a prior of 1/2")
    if min(len(question.members), len(question.nonmembers)) < 10 or len(question.members) > 20_000:
        raise NotAsked("10 to 20,000 records a side (ten forests)")
    module = import_module("sacroml.attacks.worst_case_attack")
    logging.disable(logging.WARNING)
    sides = [side.reshape(len(side), -1) for side in (question.members, question.nonmembers)]
    with tempfile.TemporaryDirectory() as folder:
        attack = module.WorstCaseAttack(n_reps=10, n_dummy_reps=0, output_dir=folder, write_report=False)
        attack.attack_from_preds(*sides)
    reps = attack.attack_metrics
    stands = attack._get_global_metrics(reps)["n_sig_auc_p_vals_corrected"]
    return Statement(float(np.mean([rep["Advantage"] for rep in reps])), leaks=bool(stands))
