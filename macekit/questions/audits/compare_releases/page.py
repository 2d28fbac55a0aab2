"""The report on several releases of one training set: which gives away least."""

from macekit.questions.compare.page import side_by_side
from macekit.reports.charts.forest import differences, ranking
from macekit.reports.content.riskiest import RANKS, TOGETHER, rank
from macekit.reports.model import AnswerPath, Cell, Context, Figure, Figures, Report, table_of
from macekit.reports.palette import WORDS

HEAD = ("Release", *RANKS[1:], "Riskiest query", "Decision")


def content(answer: AnswerPath, figures: Figures, context: Context) -> Report:
    """Each release by its riskiest query, then what any comparison has."""
    releases = {release["name"].value: release for release in answer["releases"]}

    def row(place: AnswerPath) -> tuple[Cell, ...]:
        release = releases[place["name"].value]
        decision = release["decision"].value
        return (*rank(place), release["query"].untrusted(), "" if decision is None else WORDS[decision].word)

    ranks = table_of("Ranking", HEAD, answer["ranking"], row, TOGETHER)
    return side_by_side("compare-releases", "Releases side by side", ranks, answer, figures, context)


def figures(answer: AnswerPath) -> tuple[Figure | None, ...]:
    """The ranking, and the differences from one of them."""
    return ranking(answer, "release", "releases"), differences(answer)
