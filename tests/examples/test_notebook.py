"""The notebook is run by a real kernel, and shows what it says."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

NOTEBOOK = Path(__file__).parents[2] / "examples" / "notebook" / "first.ipynb"
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


@pytest.mark.slow
def test_the_notebook_runs_and_shows_the_answer_the_chart_and_the_frame(folder: Path) -> None:
    notebook = nbformat.read(NOTEBOOK, as_version=4)

    NotebookClient(
        notebook, timeout=120, kernel_name=KERNEL, resources={"metadata": {"path": str(folder)}}
    ).execute()

    shown = [
        output["data"]
        for cell in notebook.cells
        if cell.cell_type == "code"
        for output in cell.outputs
        if output.output_type == "execute_result"
    ]
    answer, ends, chart, frame = shown
    assert "With 95% confidence the advantage over a coin toss" in answer["text/html"]
    assert '<img alt="' in answer["text/html"]
    assert "With 95% confidence" in answer["text/plain"]
    assert ends["text/plain"].startswith("(0.")
    assert chart["image/svg+xml"].lstrip().startswith("<svg")
    assert "ROC" in chart["text/plain"]
    assert "advantage" in frame["text/html"]
    assert (folder / "report.html").read_text().startswith("<!doctype html>")


def test_the_notebook_is_kept_without_outputs() -> None:
    notebook = nbformat.read(NOTEBOOK, as_version=4)

    nbformat.validate(notebook)
    assert [
        cell for cell in notebook.cells if cell.cell_type == "code" and (cell.outputs or cell.execution_count)
    ] == []
