"""``--cluster`` and ``--model`` in the shell: the service's answer, and what is refused."""

from pathlib import Path

import numpy as np
import pytest

from macekit.catalogue import OPERATIONS, flag
from tests.app.cli.files import answer, refused, service, typed
from tests.cases import each_case

pytestmark = pytest.mark.usefixtures("quick")


@pytest.fixture
def scores(empty: Path) -> Path:
    """Scores of people with five rows each, asked of models."""
    rng = np.random.default_rng(0)
    person = rng.permutation(np.repeat(np.arange(100), 5))
    score = rng.normal(size=100)[person] + rng.normal(size=500) + 1.5 * (person % 2 == 0)
    lines = [
        f"{score[row]},{score[row] + rng.normal()},{int(person[row] % 2 == 0)},p{person[row]},{rng.integers(0, 25)}"
        for row in range(500)
    ]
    path = empty / "scores.csv"
    path.write_text("score,other,member,person,run\n" + "\n".join(lines) + "\n")
    return path


NEEDED = {
    "risk": {"top": "5"},
    "attack": {"rule.kind": "top"},
    "audit": {"claimed_epsilon": "1"},
    "theory together": {"claimed_epsilon": "1"},
    "gate": {"max_advantage": "0.2"},
    "series": {"max_advantage": "0.2"},
    "frontier": {"max_advantage": "0.2", "utility": "1,2"},
}
BY_CLUSTERS = [each for each in OPERATIONS if each.command and each.by_clusters]


@pytest.mark.slow
@each_case(
    "name, operation, options",
    ("estimate", "advantage", {"score": "score", "cluster": "person,run"}),
    *(
        (
            each.command,
            each.name,
            {"score": "score,other" if each.several else "score", "cluster": "person"} | NEEDED.get(each.command, {}),
        )
        for each in BY_CLUSTERS
    ),
)
def test_the_answer_is_the_services(scores: Path, name: str, operation: str, options: dict[str, str]) -> None:
    flags = [word for option, value in options.items() for word in (flag(option), value)]
    found = answer(f"{name} scores.csv", *flags)

    assert found == service(operation, scores, **options)
    said = "100 of 500 rows" if operation == "theory/together" else "'numbers': [100"
    assert said in str(found)


def test_the_first_lines_say_what_the_clusters_cost(scores: Path) -> None:
    out = typed("estimate scores.csv --score score --cluster person").out

    first = out.partition("Optimal advantage")[0]
    assert "Worth independent records" in first
    assert "design effect" in first
    assert "100 of person" in " ".join(first.split())
    assert "have scores that are alike" not in out


def test_nobody_has_to_ask_to_be_warned(scores: Path) -> None:
    done = typed("estimate scores.csv --score score")

    notes = [line for line in done.out.splitlines() if line.startswith("note: ")]
    assert "rows of one 'person' have scores that are alike" in notes[0]
    assert "name the column as cluster" in notes[0]


@each_case(
    "line, status",
    ("gate --score score --max-advantage 0.2", 1),
    ("gate --score score --max-advantage 0.9 --max-tpr 1 --at-fpr 0.1", 0),
    ("gate --score score --metric f_beta --max 0.75", 3),
    ("series --score score,other --max-advantage 0.15", 1),
)
def test_a_decision_rests_on_the_clusters(scores: Path, line: str, status: int) -> None:
    done = typed(f"{line} scores.csv --cluster person")

    assert done.status == status
    assert "Worth independent records" in done.out
    assert "100 of person" in " ".join(done.out.split())


@each_case(
    "line, words",
    (
        "gate scores.csv --score score --cluster person --max-advantage 0.2 --state run.json",
        "cluster: does not go with --sequential",
    ),
    ("counts scores.csv --cluster person", "mace estimate, mace risk, mace metrics"),
    ("counts scores.csv --cluster person", "--cluster"),
    ("estimate scores.csv --score score --cluster nobody", "cluster: no column of the 5 has this name"),
    ("estimate scores.csv --score score --cluster member", "one column is named for two of them"),
    ("estimate scores.csv --score score --cluster person --unit run", "does not go with unit"),
    ("estimate --members a.npy --nonmembers b.npy --cluster person", "needs one table with both sides"),
)
def test_what_cannot_be_used_is_refused(scores: Path, line: str, words: str) -> None:
    for name in ("a.npy", "b.npy"):
        np.save(scores.parent / name, np.arange(20.0))

    assert words in refused(line)
    assert not (scores.parent / "run.json").exists()


# --- several models -------------------------------------------------------------------------------------------


@pytest.fixture
def runs(empty: Path) -> Path:
    """Scores of eight models, each with rows of its own."""
    rng = np.random.default_rng(0)
    lines = [
        f"{rng.normal() + member * (0.5 + 0.1 * run)},{member},seed{run}"
        for run in range(8)
        for member in (0, 1)
        for _ in range(100)
    ]
    path = empty / "runs.csv"
    path.write_text("score,member,run\n" + "\n".join(lines) + "\n")
    return path


@pytest.mark.slow
def test_the_answer_about_a_procedure_is_the_services(runs: Path) -> None:
    told = answer("procedure runs.csv --model run --max-advantage 0.3")

    assert told == service("procedure", runs, model="run", max_advantage="0.3")


def test_an_open_verdict_says_what_would_settle_it(runs: Path) -> None:
    done = typed("procedure runs.csv --model run --max-advantage 0.3")

    assert done.status == 3
    for words in ("UNDECIDED", "Models that would settle it", "Advantage of the next model"):
        assert words in done.out


def test_the_simulated_interval_decides_where_it_is_accepted(runs: Path) -> None:
    asked = "procedure runs.csv --model run --max-advantage 0.6"
    careful, accepted = typed(asked), typed(f"{asked} --accept-simulated")

    assert (careful.status, accepted.status) == (3, 0)
    assert "UNDECIDED" in careful.out
    assert "accept_simulated lets it decide" in careful.out
    assert "PASS" in accepted.out
    assert "--accept-simulated: without --max-advantage there is no verdict" in refused(
        "procedure runs.csv --model run --accept-simulated"
    )


def test_without_its_column_it_is_refused_by_name(runs: Path) -> None:
    assert "model: is required and missing: which model scored each record" in refused("procedure runs.csv")
    assert "model" in refused("procedure runs.csv --model seed")


@pytest.mark.slow
def test_models_and_clusters_are_planned() -> None:
    models = answer("plan --expected 0.3 --max-advantage 0.1 --spread 0.05 --records-per-model 200")
    clusters, alone = (answer(f"plan --expected 0.6 --max-advantage 0.1 {more}") for more in ("--design-effect 3", ""))

    assert models["records"] == 200 * models["models"]
    assert clusters["records"] == 3 * alone["records"]
