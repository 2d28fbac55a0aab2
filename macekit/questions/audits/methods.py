"""Methods of this wing, as ``/v1/methods`` tells them."""

from estimators.statement import IID
from macekit.schemas.methods import SIMULATED, MethodAnswer, ask

METHODS: list[MethodAnswer] = [
    {
        "name": "queries of a release",
        "asks": [ask("synthetic", "maximum"), ask("synthetic", "copies.beyond_chance")],
        "states": "the advantage of the riskiest of several queries of a released table, and copied rows",
        "assumes": IID
        + "; training rows that were not copied stand in the release as often by chance as hold-out rows",
        "guarantee": "copies: exact; the largest advantage " + SIMULATED,
        "reference": "MACE, section 2.2; each query names its paper (docs/queries.md, docs/synthetic.md)",
    },
    {
        "name": "number of released rows",
        "asks": [ask("release-size", "steps"), ask("release-size", "largest")],
        "states": "the advantage of the riskiest query against the number of released rows, and how many keep a limit",
        "assumes": IID + "; the sizes were fixed in advance",
        "guarantee": SIMULATED.replace("docs/coverage.md", "docs/releases.md"),
        "reference": "MACE, appendix H; a fixed sequence of tests (docs/releases.md)",
    },
    {
        "name": "releases side by side",
        "asks": [ask("compare-releases", "ranking"), ask("compare-releases", "differences")],
        "states": "the advantage of each release's riskiest query, and how much more one gives away than another",
        "assumes": IID,
        "guarantee": "corrected for the number of releases, of differences and of queries (Bonferroni)",
        "reference": "MACE, section 7; docs/releases.md",
    },
    {
        "name": "queries of a model",
        "asks": [ask("model", "maximum")],
        "states": "the advantage of the riskiest of several queries of a model's predictions",
        "assumes": IID,
        "guarantee": SIMULATED,
        "reference": "MACE, section 2.2; each query names its paper (docs/queries.md, docs/models.md)",
    },
    {
        "name": "forgotten records",
        "asks": [ask("unlearning", "residual"), ask("unlearning", "remaining_share")],
        "states": "the advantage of telling forgotten from never-seen records, the difference from a retrained model, "
        "and the share of memory that remains",
        "assumes": IID + "; forgotten, never-seen and retained records are of one kind",
        "guarantee": "excess and remaining share: exact; the residual advantage " + SIMULATED,
        "reference": "docs/unlearning.md",
    },
    {
        "name": "queries of a language model",
        "asks": [ask("text", "maximum")],
        "states": "the advantage of the riskiest of several queries of the log-probabilities of texts",
        "assumes": IID,
        "guarantee": SIMULATED,
        "reference": "MACE, section 2.2; each query names its paper (docs/queries.md)",
    },
    {
        "name": "a model beside its shadows",
        "asks": [ask("shadows", "maximum")],
        "states": "the advantage of the riskiest of LiRA, RMIA, calibrated loss and quantile regression",
        "assumes": IID + "; both sides had the same chance to be in a shadow's training set",
        "guarantee": SIMULATED,
        "reference": "Carlini et al. 2022; each query names its paper (docs/queries.md)",
    },
    {
        "name": "two sides of a split",
        "asks": [ask("check", "advantage"), ask("synthetic", "split.advantage")],
        "states": "the advantage of who reads the rows' columns and no model",
        "assumes": IID,
        "guarantee": SIMULATED,
        "reference": "docs/synthetic.md",
    },
    {
        "name": "share that was trained on",
        "asks": [ask("usage", "share"), ask("usage", "lower_whatever")],
        "states": "how large a share of some records was trained on",
        "assumes": "members score alike wherever they stand, nonmembers too; records are independent",
        "guarantee": "each order of the records exact at shares in steps of .05, their median "
        + SIMULATED.replace("docs/coverage.md", "docs/usage.md"),
        "reference": "docs/usage.md, docs/methods.md, section 13",
    },
    {
        "name": "members by name",
        "asks": [ask("exposed", "at_least"), ask("exposed", "lists")],
        "states": "how many of each list of members score as a nonmember would, and how many are exposed at least",
        "assumes": "members who are not exposed score as the nonmembers do; records are independent",
        "guarantee": "exact at every number of records, whatever the laws, with ties",
        "reference": "docs/exposed.md, docs/methods.md, section 14",
    },
]
