"""A DAG for Airflow 3 that stops a release whose model gives away too much about who was in its training data.

Trigger it with the scores of the candidate: {"scores": "/data/scores.parquet", "report": "/data/report.html"}.
Where it stands, put it between the task that scores the candidate and the one that publishes it.
"""

from airflow.sdk import Param, dag, task
from membership_check import check


@dag(
    schedule=None,
    catchup=False,
    tags=["release"],
    params={
        "scores": Param("/data/scores.parquet", type="string", description="a column of scores, and is_member"),
        "report": Param("/data/membership.html", type="string"),
        "maximum": Param(0.1, type="number", minimum=0, maximum=1, description="largest acceptable advantage"),
    },
)
def membership():
    """Gate a release on its membership advantage."""

    @task(retries=0)  # the same scores get the same answer
    def gate(params=None):
        return check(params["scores"], params["report"], params["maximum"])

    gate()


membership()
