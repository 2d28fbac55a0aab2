"""Examples for systems that are not here: what they are written in is read, and what they run is run."""

import ast
import json
import os
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import yaml
from pyarrow import parquet

from app.cli.demo import example_table
from tests.app.cli.files import typed
from tests.examples.scripts import EXAMPLES, bare_environment, ran

IMAGE = "mace:0.1.0"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout with the scores that the pipelines look at."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    table = {
        "loss": np.concatenate([rng.normal(0.1, 1, 4000), rng.normal(0, 1, 4000)]),
        "is_train": np.arange(8000) < 4000,
    }
    parquet.write_table(pa.table(table), tmp_path / "scores.parquet")
    return tmp_path


def shell(script: str, folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """A script as a runner runs it, with this interpreter's `mace` first on the path."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=folder,
        env=bare_environment() | {"PATH": path} | variables,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def read(path: str) -> Any:
    return yaml.safe_load((EXAMPLES / path).read_text())


def cases(junit: Path) -> list[str]:
    return [str(case.get("name")) for case in ET.parse(junit).iter("testcase")]


@pytest.mark.slow
def test_the_steps_of_the_github_workflow_gate_report_and_write_the_summary(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (job,) = read("github-actions/membership.yml")["jobs"].values()
    commands = [step["run"] for step in job["steps"] if step.get("run", "").startswith("mace ")]
    summary = folder / "summary.md"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    monkeypatch.setenv("GITHUB_ACTIONS", "true")

    done = [typed(each.removeprefix("mace ")) for each in commands]

    assert [each.status for each in done] == [0, 0], [each.err for each in done]
    assert len(cases(folder / "gate.xml")) == 1
    assert (folder / "report.html").read_text().startswith("<!doctype html>")
    assert "0.1" in summary.read_text()
    kept = job["steps"][-1]["with"]["path"].split()
    assert all((folder / name).exists() for name in kept)


def test_the_github_workflow_lets_nothing_pass_but_a_pass(folder: Path) -> None:
    (job,) = read("github-actions/membership.yml")["jobs"].values()
    gate = next(step for step in job["steps"] if step.get("name") == "Gate")

    done = typed(gate["run"].removeprefix("mace ").replace("--max-advantage 0.1", "--max-advantage 0.05"))

    assert done.status == 3
    assert "continue-on-error" not in gate
    assert [step["uses"] for step in job["steps"] if "uses" in step and not re.search(r"@v\d+$", step["uses"])] == []


@pytest.mark.slow
def test_the_scripts_of_the_gitlab_job_gate_and_report(folder: Path) -> None:
    (job,) = read("gitlab/membership.gitlab-ci.yml").values()

    done = [shell("\n".join(job[part]), folder, **job["variables"]) for part in ("script", "after_script")]

    assert [each.returncode for each in done] == [0, 0], [each.stderr for each in done]
    reports = job["artifacts"]["reports"]
    assert len(cases(folder / reports["junit"])) == 1
    assert "0.1" in (folder / reports["metrics"]).read_text()
    assert all((folder / name).exists() for name in job["artifacts"]["paths"])
    assert job["image"]["name"] == IMAGE


@pytest.mark.slow
def test_the_job_of_the_gitlab_component_gates_each_file_and_reports(folder: Path) -> None:
    header, jobs = yaml.safe_load_all((EXAMPLES.parent / "templates" / "mace.yml").read_text())
    inputs = {name: each.get("default") for name, each in header["spec"]["inputs"].items()}
    required = [name for name, default in inputs.items() if default is None]
    shutil.copy(folder / "scores.parquet", folder / "again.parquet")
    inputs |= {
        "scores": "scores.parquet again.parquet",
        "options": "--score loss --member is_train --max-advantage 0.1",
    }
    text = re.sub(r"\$\[\[ inputs\.(\w+) \]\]", lambda match: inputs[match[1]], yaml.safe_dump(jobs))
    job = yaml.safe_load(text)["membership"]

    done = shell("\n".join(job["script"]), folder, **job["variables"])

    assert done.returncode == 0, done.stderr
    assert required == ["scores"]
    reports = job["artifacts"]["reports"]
    assert cases(folder / reports["junit"]) == ["scores.parquet", "again.parquet"]
    assert 'file="again.parquet"' in (folder / reports["metrics"]).read_text()
    assert all((folder / name).exists() for name in job["artifacts"]["paths"])
    assert job["image"]["name"] == IMAGE
    assert "inputs." not in "".join(jobs["$[[ inputs.job ]]"]["script"]), "it could be read as a command"


ACTION = EXAMPLES.parent / "deploy" / "github-action" / "action.yml"


@pytest.mark.slow
@pytest.mark.parametrize(("maximum", "status", "decision"), [("0.2", 0, "pass"), ("0.05", 3, "inconclusive")])
def test_the_github_action_gates_and_says_what_was_decided(
    maximum: str, status: int, decision: str, folder: Path
) -> None:
    action = yaml.safe_load(ACTION.read_text())
    gate = next(step for step in action["runs"]["steps"] if step.get("id") == "gate")
    given = {
        "scores": "scores.parquet",
        "options": f"--score loss --member is_train --max-advantage {maximum}",
        "sarif": "gate.sarif",
    }
    inputs = {name: given.get(name, about.get("default", "")) for name, about in action["inputs"].items()}
    variables = {
        name: re.sub(r"\$\{\{ inputs\.(\w+) \}\}", lambda found: inputs[found[1]], value)
        for name, value in gate["env"].items()
    }

    done = shell(gate["run"], folder, GITHUB_OUTPUT=str(folder / "output"), **variables)

    assert done.returncode == status, done.stderr
    assert (folder / "output").read_text() == f"decision={decision}\n"
    assert len(cases(folder / "gate.xml")) == 1
    (code_scanning,) = json.loads((folder / "gate.sarif").read_text())["runs"]
    assert len(code_scanning["results"]) == (decision != "pass")
    assert (folder / "report.html").read_text().startswith("<!doctype html>")
    assert "inputs." not in gate["run"], "an input in a script could be read as a command"
    root = (ACTION.parent / "../..").resolve()
    assert (root / "pyproject.toml").exists(), "what its first step installs"


@pytest.mark.slow
def test_the_steps_of_the_jenkins_pipeline_gate_and_report(folder: Path) -> None:
    pipeline = (EXAMPLES / "jenkins" / "Jenkinsfile").read_text()
    variables = dict(re.findall(r"^\s+([A-Z]+) = '(.*)'$", pipeline, re.MULTILINE))
    steps = re.findall(r"^\s+sh '(.*)'$", pipeline, re.MULTILINE)

    done = [shell(step, folder, **variables) for step in steps]

    assert [each.returncode for each in done] == [0, 0], [each.stderr for each in done]
    assert len(cases(folder / re.findall(r"junit '(.*)'", pipeline)[0])) == 1
    assert (folder / re.findall(r"artifacts: '(.*?)'", pipeline)[0]).exists()
    assert f"image '{IMAGE}'" in pipeline
    assert pipeline.count("{") == pipeline.count("}")


def test_the_hook_of_pre_commit_gates_the_files_it_is_given(folder: Path) -> None:
    (hook,) = yaml.safe_load((EXAMPLES.parent / ".pre-commit-hooks.yaml").read_text())
    (folder / "pyproject.toml").write_text(
        '[tool.mace.gate]\nscore = "loss"\nmember = "is_train"\nmax-advantage = 0.05\n'
    )

    assert re.search(hook["files"], "data/scores.parquet")
    assert not re.search(hook["files"], "scores.py")
    command = hook["entry"].removeprefix("mace ")
    assert typed(f"{command} scores.parquet").status == 3
    (folder / "other").mkdir()
    shutil.copy(folder / "scores.parquet", folder / "other")
    several = typed(f"{command} scores.parquet other/scores.parquet --json")
    assert [each["file"] for each in several.answer["files"]] == ["scores.parquet", "other/scores.parquet"]


def test_what_a_cluster_changes_is_laid_over_the_manifest() -> None:
    changes = read("kubernetes/kustomization.yaml")

    manifest = list(yaml.safe_load_all((EXAMPLES / "kubernetes" / changes["resources"][0]).read_text()))
    (deployment,) = (each for each in manifest if each["kind"] == "Deployment")
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    assert container["image"].rpartition(":")[0] in {each["name"] for each in changes["images"]}


def test_the_containers_of_the_argo_workflow_gate_and_report(folder: Path) -> None:
    workflow = read("argo/membership.yaml")
    maximum = workflow["spec"]["arguments"]["parameters"][0]["value"]
    templates = {each["name"]: each for each in workflow["spec"]["templates"]}
    outside = {"/in": folder, "/out": folder / "out"}
    outside["/out"].mkdir()
    table = parquet.read_table(folder / "scores.parquet").rename_columns(["score", "member"])
    parquet.write_table(table, folder / "scores.parquet")

    for name in ("gate", "report"):
        container = templates[name]["container"]
        words = [*container["command"], *container["args"]]
        words = [word.replace("{{workflow.parameters.maximum}}", maximum) for word in words]
        for mount, place in outside.items():
            words = [word.replace(f"{mount}/", f"{place}/") for word in words]
        assert words[0] == "mace"
        done = typed("", *words[1:])

        assert done.status == 0, done.err
        assert container["image"] == IMAGE
        assert container["securityContext"]["readOnlyRootFilesystem"] is True
        mounts = {mount["mountPath"] for mount in container["volumeMounts"]}
        assert {volume["name"] for volume in templates[name]["volumes"]} == {"out", "tmp"}
        for artifact in templates[name]["outputs"]["artifacts"]:
            assert str(Path(artifact["path"]).parent) in mounts
            assert (outside["/out"] / Path(artifact["path"]).name).exists()


def test_the_tasks_of_the_argo_workflow_name_templates_and_artifacts_that_are_there() -> None:
    spec = read("argo/membership.yaml")["spec"]
    templates = {each["name"]: each for each in spec["templates"]}
    artifacts = {each["name"] for each in spec["arguments"]["artifacts"]}

    for task in templates[spec["entrypoint"]]["dag"]["tasks"]:
        inputs = {each["name"] for each in templates[task["template"]]["inputs"]["artifacts"]}
        assert {each["name"] for each in task["arguments"]["artifacts"]} == inputs
        for each in task["arguments"]["artifacts"]:
            assert each["from"] in {f"{{{{workflow.artifacts.{name}}}}}" for name in artifacts}


@pytest.mark.slow
def test_the_task_of_the_airflow_dag_runs_without_airflow(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(EXAMPLES / "airflow", folder / "dags")
    monkeypatch.syspath_prepend(folder / "dags")
    from membership_check import check  # type: ignore[import-not-found]

    columns = {"score": "loss", "member": "is_train"}
    scores, report = str(folder / "scores.parquet"), str(folder / "report.html")

    found = check(scores, report, 0.2, **columns)
    with pytest.raises(RuntimeError, match="Undecided, not enough data"):
        check(scores, report, 0.05, **columns)

    assert found["decision"] == "pass"
    assert found["upper"] <= 0.2
    assert (folder / "report.html").exists()


def test_the_airflow_dag_is_python_and_calls_that_task() -> None:
    source = (EXAMPLES / "airflow" / "membership_dag.py").read_text()

    tree = ast.parse(source)
    compile(tree, "membership_dag.py", "exec")

    modules = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert modules == {"airflow.sdk", "membership_check"}
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "check"]
    assert len(calls[0].args) == 3


@pytest.mark.slow
def test_the_command_of_the_airflow_dag_gates_each_file(folder: Path) -> None:
    source = (EXAMPLES / "airflow" / "gate_dag.py").read_text()
    tree = ast.parse(source)
    compile(tree, "gate_dag.py", "exec")
    (task,) = (
        {each.arg: each.value for each in node.keywords}
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "BashOperator"
    )
    command, templates = (ast.literal_eval(task[name]) for name in ("bash_command", "env"))
    table = parquet.read_table(folder / "scores.parquet").rename_columns(["score", "member"])
    for name in ("a", "b"):
        parquet.write_table(table, folder / f"{name}.parquet")
    values = {"scores": "a.parquet b.parquet", "maximum": "0.1", "folder": str(folder)}
    env = {name: values[re.findall(r"params\.(\w+)", text)[0]] for name, text in templates.items()}

    done = shell(command, folder.parent, **env)

    assert done.returncode == 0, done.stderr
    assert cases(folder / "gate.xml") == ["a.parquet", "b.parquet"]
    assert (folder / "gate.html").read_text().startswith("<!doctype html>")
    assert "params." not in command, "it could be read as a command"


def test_the_model_card_is_what_its_script_makes(folder: Path) -> None:
    card = EXAMPLES / "huggingface" / "model-card.md"
    (folder / "example.csv").write_bytes(example_table())
    shutil.copy(card, folder / "README.md")

    ran("huggingface/make_card.py", "example.csv", "README.md")

    def lasting(path: Path) -> list[str]:
        return [line for line in path.read_text().splitlines() if "Report made" not in line]

    assert lasting(folder / "README.md") == lasting(card)
    assert yaml.safe_load(card.read_text().split("---\n")[1])["license"] == "apache-2.0"


def test_a_card_without_a_section_gets_one_at_its_end(folder: Path) -> None:
    (folder / "example.csv").write_bytes(example_table())
    (folder / "README.md").write_text("# A model\n")

    for _ in range(2):
        ran("huggingface/make_card.py", "example.csv", "README.md")

    text = (folder / "README.md").read_text()
    assert text.startswith("# A model\n\n<!-- membership leakage: begin -->\n## Membership leakage\n")
    assert text.count("## Membership leakage") == 1


@pytest.mark.slow
def test_a_training_run_logs_what_its_own_losses_give_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import mlflow

    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    before = mlflow.get_tracking_uri()
    try:
        printed = ran("mlflow/log_run.py", str(tmp_path / "runs")).out
    finally:
        mlflow.set_tracking_uri(before)

    assert re.findall(r"^depth \d+: (\w+)", printed, flags=re.MULTILINE) == ["pass", "fail"]
    assert len(list((tmp_path / "runs").rglob("report.html"))) == 2


def test_the_index_names_every_example() -> None:
    index = (EXAMPLES / "README.md").read_text()
    named = set(re.findall(r"\]\(([^)#:]+)\)", index))

    assert {name for name in named if not (EXAMPLES / name).exists()} == set()
    folders = {path.name for path in EXAMPLES.iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert folders <= {name.split("/")[0] for name in named}
