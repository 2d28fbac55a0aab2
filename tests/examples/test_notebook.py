"""The notebooks are run by a real kernel, and show what they say.

What runs them takes seconds to import: it is imported by who runs one, not by every worker that collects this file.
"""

import json
import sys
from ast import literal_eval
from pathlib import Path

import pytest

from tests.cases import each_case

NOTEBOOKS = Path(__file__).parents[2] / "examples" / "notebook"
KERNEL = "under-test"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to run in, and a kernel that is this interpreter, known nowhere else."""
    place = tmp_path / "jupyter" / "kernels" / KERNEL
    place.mkdir(parents=True)
    argv = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    spec = {"argv": argv, "display_name": KERNEL, "language": "python"}
    (place / "kernel.json").write_text(json.dumps(spec))
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path / "jupyter"))
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path / "runtime"))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    monkeypatch.setenv("JUPYTER_PLATFORM_DIRS", "1")
    work = tmp_path / "work"
    work.mkdir()
    return work


def results(name: str, folder: Path) -> list[dict[str, str]]:
    """What the cells of a notebook show when it is run."""
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.read(NOTEBOOKS / name, as_version=4)
    resources = {"metadata": {"path": str(folder)}}
    NotebookClient(notebook, timeout=120, kernel_name=KERNEL, resources=resources).execute()
    return [
        output["data"]
        for cell in notebook.cells
        if cell.cell_type == "code"
        for output in cell.outputs
        if output.output_type == "execute_result"
    ]


@pytest.mark.slow
def test_the_first_notebook_runs_and_shows_the_answer_the_chart_and_the_frame(folder: Path) -> None:
    answer, ends, chart, frame = results("first.ipynb", folder)

    assert "With 95% confidence the advantage over a coin toss" in answer["text/html"]
    assert '<img alt="' in answer["text/html"]
    assert "With 95% confidence" in answer["text/plain"]
    assert ends["text/plain"].startswith("(0.")
    assert chart["image/svg+xml"].lstrip().startswith("<svg")
    assert "ROC" in chart["text/plain"]
    assert "advantage" in frame["text/html"]
    assert (folder / "report.html").read_text().startswith("<!doctype html>")


@pytest.mark.slow
def test_the_notebook_of_seven_statements_says_what_its_text_does(folder: Path) -> None:
    run, exposed, band, usage, unlearning, frontier, strength = results("seven.ipynb", folder)

    assert "replacing one record by another is contradicted" in run["text/plain"]
    assert "members are exposed" in exposed["text/plain"]
    assert band["image/svg+xml"].lstrip().startswith("<svg")
    lower, upper, _ = literal_eval(usage["text/plain"])
    assert lower < 120 / 200 < upper
    assert unlearning["text/plain"].startswith("('pass'")
    assert "A pass is no proof of forgetting" in unlearning["text/plain"]
    assert "may go out" in frontier["text/plain"]
    assert strength["text/plain"].startswith("(True")


@pytest.mark.slow
@each_case("path", sorted(NOTEBOOKS.glob("*.ipynb")))
def test_notebooks_are_kept_without_outputs(path: Path) -> None:
    import nbformat

    notebook = nbformat.read(path, as_version=4)

    nbformat.validate(notebook)
    assert [
        cell for cell in notebook.cells if cell.cell_type == "code" and (cell.outputs or cell.execution_count)
    ] == []
