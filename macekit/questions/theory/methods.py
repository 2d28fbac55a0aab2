"""Methods of this wing, as ``/v1/methods`` tells them."""

from estimators.statement import IID
from macekit.schemas.methods import MethodAnswer, ask

METHODS: list[MethodAnswer] = [
    {
        "name": "differential privacy",
        "asks": [ask("theory/dp", "bounds")],
        "states": "what a promise allows an adversary at most: advantage, risk, MIP's eta, MIS's Delta, TPR at FPR",
        "assumes": "membership is random; the promise is about the adjacency that is stated",
        "guarantee": "proven; an accountant's numbers as far as its convolution is exact",
        "reference": "Kairouz et al. 2015; Dong, Roth and Su 2022; docs/methods.md, section 8",
    },
    {
        "name": "conversion",
        "asks": [ask("theory/convert", "rows")],
        "states": "an advantage, eta, epsilon or mu in the units of the others, as a lower end and as an upper limit",
        "assumes": "members drawn at random",
        "guarantee": "proven; an epsilon or mu from an advantage is the smallest promise that agrees, and no guarantee",
        "reference": "MIP, Theorems 4 and 8, mended; Dong, Roth and Su 2022; docs/methods.md, section 8",
    },
    {
        "name": "agreement",
        "asks": [ask("theory/together", "rows")],
        "states": "what a claim allows beside what was measured",
        "assumes": IID,
        "guarantee": "all intervals hold together (Bonferroni); simulated",
        "reference": "docs/methods.md, section 8",
    },
    {
        "name": "one run",
        "asks": [ask("theory/one-run", "epsilon")],
        "states": "a lower bound on epsilon whatever the mechanism, by betting; a promised curve, by counting guesses",
        "assumes": "a fair coin for each record, or a random split",
        "guarantee": "proven at every sample size; canaries may hang together; nothing where members were chosen",
        "reference": "Steinke, Nasr and Jagielski 2023; Mahloujifar, Melis and Chaudhuri 2025; docs/methods.md, "
        "section 15",
    },
    {
        "name": "membership inference privacy",
        "asks": [ask("theory/mip", "noise"), ask("theory/mip-finite", "eta")],
        "states": "noise that keeps every attack within eta of guessing; the eta of a finite algorithm",
        "assumes": "fits to random halves of one data set, drawn independently",
        "guarantee": "from swaps and draws: exact at every sample size; from a moment: an estimate",
        "reference": "Izzo et al. 2024, mended (docs/methods.md, section 9)",
    },
    {
        "name": "membership inference security",
        "asks": [
            ask("theory/mis", "bounds"),
            ask("theory/mis-overfitting", "delta_at_least"),
            ask("theory/mis-divergence", "delta"),
            ask("theory/mis-mean", "delta"),
        ],
        "states": "what any algorithm may give away of categorical data; how secure overfitting leaves it at most",
        "assumes": "records are independent draws",
        "guarantee": "exact where the distribution is given, at every sample size where it is sampled",
        "reference": "Aubinais, Gassiat and Piantanida 2025 (docs/methods.md, section 10)",
    },
    {
        "name": "practical membership privacy",
        "asks": [
            ask("theory/pmp-exponential", "epsilon"),
            ask("theory/pmp-finite", "practical_epsilon"),
            ask("theory/pmp-gaussian", "practical_epsilon"),
        ],
        "states": "what a mechanism gives away to who knows the records it may have used, but not which it did",
        "assumes": "half of the records are used, each half equally likely",
        "guarantee": "exact, or an upper bound; from random training sets: at every number of draws",
        "reference": "Lowy et al. 2024 (docs/methods.md, section 11)",
    },
]
