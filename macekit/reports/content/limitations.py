"""What an answer does not establish: conclusions that a reader might otherwise draw from it."""

from collections.abc import Iterable, Iterator

from macekit.reports.content import plain_words
from macekit.reports.content.guarantees import SIMULATED, Backing
from macekit.reports.model import AnswerPath, Bullets, Inline, Phrase, Section

MOST = 40  # items of one kind; a report with a thousand groups does not need a thousand sentences

SCOPE: Inline = (
    "Only this score of this model was looked at. Another attack, another score, or several scores together "
    "may find more, and another run of the same training is another model.",
)
OF_PROCEDURE: Inline = (
    "Only this score of these models was looked at. Another attack, another score, or several scores together may find "
    "more.",
)
INDEPENDENCE: Inline = (
    "Records are taken to be independent of each other. Several rows about one person are not: name the person as "
    "unit or cluster, or keep one of each.",
)
BETWEEN_CLUSTERS: Inline = (
    "Clusters are taken to be independent of each other, and how many records one has to say nothing of their scores.",
)
CONFIDENCE: Inline = (
    "Every interval is wrong for some samples. Its confidence says for what share of samples it is right.",
)

CONTRADICTED: Inline = (
    "The records contradict the assumption behind the upper end, so there is no upper limit, and more records "
    "will not change that. Choose another class of attacks with the option estimator.",
)


def section(items: Iterable[Inline], *warnings: AnswerPath) -> Section:
    """The list, warnings at its end, each once."""
    messages: dict[str, Inline] = {}
    for each in warnings:
        for warning in each:
            messages.setdefault(warning["message"].value, ("Note: ", warning["message"].quote(), "."))
    notes = list(messages.values())
    rest: list[Inline] = [(f"{len(notes) - MOST} more warnings are in the JSON.",)] if len(notes) > MOST else []
    blocks = Bullets((*items, *notes[:MOST], *rest))
    return Section("not-established", "What was not established", (blocks,))


def of_assessment(result: AnswerPath, prior: AnswerPath, flags: AnswerPath = plain_words.NOTHING) -> Iterator[Inline]:
    """What one sample's advantage leaves open."""
    yield from _verdict(result["verdict"])
    yield from of_advantage(result, flags)
    yield from of_sample(prior, result["advantage"]["clusters"])
    yield from _asymptotic(result)
    yield from _of_rates(result["roc"])
    if paper := result["paper"]:
        yield (
            "The interval of the paper's statistic covers ",
            paper["covers"].quote(),
            ". It is not the one to decide on.",
        )
    yield from of_exposure(result["exposure"])
    yield from of_promise(result["claim"])
    if epsilon := result["epsilon"]:
        yield "The bound on the mechanism's epsilon assumes: ", epsilon["guarantee"]["assumes"].quote(), "."
    yield from of_optimum(result["metric"])


def of_optimum(metric: AnswerPath) -> Iterator[Inline]:
    """That the optimum of a metric says nothing, if so."""
    if why := metric["degenerate"]:
        name = metric["name"].untrusted()
        yield "The optimum of ", name, " says nothing about leakage: ", why.quote(), "."


def reversed_scores(roc: AnswerPath) -> bool:
    """Whether members are shown to score lower than nonmembers."""
    return bool(roc["auc_upper"]) and roc["auc_upper"].value < 0.5


def _of_rates(roc: AnswerPath) -> Iterator[Inline]:
    """What the true positive rates leave open: they are those of one direction."""
    points = list(roc["operating_points"])
    if points and reversed_scores(roc):
        yield (
            "Members score lower than nonmembers here: the area under the ROC is at most ",
            roc["auc_upper"].number(),
            ". The true positive rates are those of guessing member above a threshold, so they do not show what an "
            "attacker finds who can afford few false accusations; negated scores would show it.",
        )
    elif at_zero := [each for each in points if not each["lower"].value]:
        yield (
            "At a false positive rate of ",
            _enumeration([(point["fpr"].number("exact"),) for point in at_zero]),
            " the lower end of the true positive rate is zero: these records do not show that accusing every score "
            "above a threshold finds any member there, and they do not rule it out. Other rules were not examined.",
        )


def of_exposure(exposure: AnswerPath) -> Iterator[Inline]:
    """That nobody is shown to be exposed, and how many might be unseen."""
    if exposure and not exposure["alarm"].value:
        if exposure["tail"]:
            yield (
                "No end of the score is shown to hold members that almost no nonmember reaches, and a few of them may "
                "be there unseen.",
            )
        else:
            yield (exposure["sentence"].quote(),)


def of_promise(claim: AnswerPath) -> Iterator[Inline]:
    """What a promise that stands is not."""
    if claim["decision"].value == "not contradicted":
        yield ("It was not shown that the promise is kept: these records do not contradict it, and that is no proof.",)


def of_advantage(result: AnswerPath, flags: AnswerPath = plain_words.NOTHING) -> Iterator[Inline]:
    """What the certified interval leaves open at either end."""
    advantage = result["advantage"]
    covers = advantage["guarantee"]["covers"]
    if "change their guess" in covers.value:
        yield (
            "The upper end is for attackers who ",
            *plain_words.rules_anywhere(advantage),
            ". An attacker who finds finer patterns may do better, and no number of records limits by how much; "
            "the lower end holds for that attacker, too.",
        )
    elif "resolution" in covers.value:
        view = "learned score" if "learned score" in covers.value else "score"
        yield (
            f"The upper end is for attackers who read the {view} at a resolution of ",
            advantage["resolution"].number("count"),
            " cells. Where there are more values than cells, an attacker who reads them more finely may do better, and "
            "no number of records limits by how much; the lower end holds for that attacker, too.",
        )
    else:
        yield (
            "The upper end holds only as far as its assumption does: ",
            advantage["guarantee"]["assumes"].quote(),
            ".",
        )
    if advantage["class_rejected"].value:
        yield CONTRADICTED
    if advantage["lower"].value <= result["baseline"].value:
        yield _gain(result, flags)


def _gain(result: AnswerPath, flags: AnswerPath) -> Inline:
    if plain_words.no_evidence(result, flags):
        return ("It was not shown that anything leaks at all: the lower end does not lie above the baseline.",)
    return ("A gain over the baseline at this prior was not shown: the lower end does not lie above it.",)


def of_sample(prior: AnswerPath, clusters: AnswerPath = plain_words.NOTHING, scope: Inline = SCOPE) -> Iterator[Inline]:
    """What no sample of scores can tell; of a release without ``scope``, which says so itself."""
    if scope:
        yield scope
    yield BETWEEN_CLUSTERS if clusters else INDEPENDENCE
    if prior:
        yield (
            "The prior of ",
            prior.number("exact"),
            " is an assumption, not a finding: at another prior the baseline and the advantage are other numbers.",
        )
    yield CONFIDENCE


def of_guarantee(guarantee: AnswerPath) -> Iterator[Inline]:
    """What limits rest on, where no table of guarantees says it."""
    yield "The limits assume: ", guarantee["assumes"].quote(), f".{Backing.of(guarantee).caveat}"


def of_groups(groups: AnswerPath) -> Iterator[Inline]:
    """Groups of which little can be said."""
    small = [group for group in groups if any(w["code"].value == "group_too_small" for w in group["warnings"])]
    if small:
        names = _enumeration([(group["label"].untrusted(),) for group in small[:MOST]])
        others = f", and {len(small) - MOST} more" if len(small) > MOST else ""
        yield "These groups are too small for an informative advantage of their own: ", names, f"{others}."


def _verdict(verdict: AnswerPath) -> Iterator[Inline]:
    if verdict["decision"].value == "pass":
        yield ("A pass says that the upper end is not above the limit. It does not say that nothing leaks.",)
    elif verdict["decision"].value in ("inconclusive", "not applicable"):
        yield "No decision was reached at the limit: ", verdict["reason"].quote(), "."


def _asymptotic(result: AnswerPath) -> Iterator[Inline]:
    names: list[Inline] = []
    if result["advantage"]["guarantee"]["finite_sample"].value is False:
        names.append(("the optimal advantage",))
    if result["metric"]["guarantee"]["finite_sample"].value is False:
        names.append(("the best ", result["metric"]["name"].untrusted()))
    if result["roc"]:
        names.append(("the AUC and the true positive rates",))
    if names:
        yield (
            "The intervals of ",
            _enumeration(names),
            f" are not proven at every sample size. Their coverage was {SIMULATED}.",
        )


def _enumeration(items: list[Inline]) -> Phrase:
    """``a, b and c``."""
    pieces: list[Inline] = []
    for place, item in enumerate(items):
        between = "" if place == 0 else " and " if place == len(items) - 1 else ", "
        pieces.append((between, *item))
    return Phrase(tuple(part for item in pieces for part in item))
