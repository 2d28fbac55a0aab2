"""A DAG for Airflow 3 that gates scores by the command, where `mace` is on the workers' path but not Airflow's package.

Trigger it with files, separated by blanks, each of which is judged by itself at one level for all:
{"scores": "/data/a.parquet /data/b.parquet"}. The task fails unless all of them pass.
"""

from airflow.providers.standard.operators.bash import BashOperator
from airflow.sdk import Param, dag


@dag(
    schedule=None,
    catchup=False,
    tags=["release"],
    params={
        "scores": Param("/data/scores.parquet", type="string"),
        "maximum": Param(0.1, type="number", minimum=0, maximum=1),
        "folder": Param("/data", type="string", description="where the report and the JUnit file are put"),
    },
)
def membership_gate():
    """Gate a release on its membership advantage."""
    BashOperator(
        task_id="gate",
        # 0 pass, 1 fail, 2 misuse, 3 undecided: only 0 lets the task succeed.
        bash_command='cd "$FOLDER" && mace gate $SCORES --max-advantage "$MAXIMUM" --junit gate.xml '
        "-o gate.html --overwrite",
        env={  # as variables, so that no parameter is read as a command
            "SCORES": "{{ params.scores }}",
            "MAXIMUM": "{{ params.maximum }}",
            "FOLDER": "{{ params.folder }}",
        },
        append_env=True,
        retries=0,  # the same scores get the same answer
    )


membership_gate()
