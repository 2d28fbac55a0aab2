"""A wing: what theory promises before any score is seen, a room for each paper.

``ROWS`` are its operations.
"""

from macekit.call import JSON
from macekit.operation import WORDS, Operation

ROWS = (
    Operation(
        "theory/dp",
        "theory dp",
        "What a promise of differential privacy allows an attacker, with all known bounds",
        "The promise is `epsilon` with `delta`, `mu`, `rdp` or `noise_multiplier` with `steps` and `sampling_rate`; "
        "the last two need the optional accountant.",
        (
            "mace theory dp --epsilon 1 --delta 1e-5 --prior 0.1",
            "mace theory dp --noise-multiplier 1.1 --steps 1000 --sampling-rate 0.01 --delta 1e-5",
            "mace theory dp --rdp 2:0.1,4:0.3,16:1.2 --delta 1e-5",
            "mace theory dp --advantage 0.1",
        ),
        bodies=(JSON,),
        inline=True,
    ),
    Operation(
        "theory/convert",
        "theory convert",
        "An advantage, an eta, an epsilon or a mu in the units of the others, and as a TPR at an FPR",
        "Give one number. As a lower end (it was measured) it says what the others must be at least: an epsilon so "
        "found is the smallest promise that agrees, and no guarantee. As an upper limit (it was promised) it says "
        "what the others are at most, which is one.",
        (
            "mace theory convert --advantage 0.2 --delta 1e-5",
            "mace theory convert --eta 0.1",
            "mace theory convert --epsilon 1 --false-positive-rates 0.001",
            "mace theory convert --mu 1 --delta 1e-5",
        ),
        bodies=(JSON,),
        forms=WORDS,
    ),
    Operation(
        "theory/mip",
        "theory mip",
        "Membership inference privacy: the noise that keeps every attack within eta of guessing",
        "Takes parameters of fits to random halves of your data (`draws`), or pairs of fits that differ by one swapped "
        "record (`before`, `after`, `record`), never the data. The answer is the noise to add, with eta certified at "
        "every sample size, beside the paper's own calibrations. The certificate is about this data set and this fit, "
        "over the random half and the noise. It is of noise of real numbers: round what you release to `noise.grid`.",
        (
            "mace theory mip draws.npy --eta 0.1",
            "mace theory mip swaps.parquet --before b0,b1 --after a0,a1 --record who --eta 0.1",
        ),
        arrays=("draws", "before", "after", "record"),
    ),
    Operation(
        "theory/mip-finite",
        "theory mip-finite",
        "Membership inference privacy of an algorithm with finitely many outputs, exactly",
        "Takes the probabilities of every output given every training set of k records out of n (rows in lexicographic "
        "order). Answers by how much the best attack on each record beats the better constant guess, and at which "
        "outputs it says that the record is in.",
        ("mace theory mip-finite laws.npy --n 6 --k 3",),
        forms=WORDS,
        arrays=("laws",),
    ),
    Operation(
        "theory/mis",
        "theory mis",
        "Membership inference security: what any algorithm can reveal about data in categories",
        "The answer is the membership inference security of the worst possible algorithm (Aubinais et al., Theorem 14) "
        "for several sizes of the training set, how many records are enough, and what is gained by merging categories. "
        "Give the distribution as `probabilities`, or a sample of it as `values` or `tallies`; for a sample, every "
        "bound includes the sampling error, at any size. Give `universe`, the number of possible categories, if you "
        "know it.",
        (
            "mace theory mis people.csv --column city --sizes 1000,10000",
            "mace theory mis counts.csv --tallies records --delta 0.1",
        ),
        arrays=("values", "tallies", "probabilities"),
    ),
    Operation(
        "theory/mis-overfitting",
        "theory mis-overfitting",
        "Membership inference security: an upper limit from training and held-out losses",
        "If training losses lie far below held-out losses, security is limited from above (Theorem 11). The limit is "
        "taken at the best of many cuts and corrected for that choice. MIS averages over training sets, so one model's "
        "losses describe that model alone, unless `losses_of` says that each loss comes from a separate training.",
        (
            "mace theory mis-overfitting losses.csv --score loss --member is_train",
            "mace theory mis-overfitting --members train.npy --nonmembers heldout.npy",
        ),
        arrays=("train_losses", "heldout_losses"),
        sides=True,
    ),
    Operation(
        "theory/mis-divergence",
        "theory mis-divergence",
        "Membership inference security of one output, from its two laws, exactly",
        "Takes the probability of each output for a member and for a nonmember. Answers by how much the best attack "
        "beats guessing (D_gamma of Aubinais et al., Eqs. 3 to 5), and at which outputs it says member. Laws counted "
        "from a sample lie further apart than the true ones: ask /v1/advantage about the scores instead.",
        ("mace theory mis-divergence laws.csv --column member,nonmember --nonmember-share 0.5",),
        arrays=("outputs",),
    ),
    Operation(
        "theory/mis-mean",
        "theory mis-mean",
        "Membership inference security of the mean of Gaussian records, exactly",
        "The one case in which Theorem 13 of Aubinais et al. can be evaluated: for other records its constant is not "
        "explicit. Holds for any mean and covariance, and bounds whatever is computed from that mean.",
        ("mace theory mis-mean --dimension 10 --sizes 1000,10000", "mace theory mis-mean --delta 0.01"),
        bodies=(JSON,),
    ),
    Operation(
        "theory/pmp-exponential",
        "theory pmp-exponential",
        "Practical membership privacy of an exponential mechanism, on these records",
        "What the mechanism reveals to an attacker who knows the 2n candidate records but not which n were used; every "
        "half is equally likely. `losses` has one row for each record, or one row for each training set. Give "
        "`epsilon`, or the `practical_epsilon` you want. The answer is exact as long as all training sets can be "
        "enumerated (2n up to about 30 for losses of records); for more records, set `draws`.",
        ("mace theory pmp-exponential losses.csv --epsilon 1 --sensitivity 1",),
        forms=WORDS,
        arrays=("losses",),
    ),
    Operation(
        "theory/pmp-finite",
        "theory pmp-finite",
        "Practical membership privacy of an algorithm with finitely many outputs, exactly",
        "Takes the probabilities of every output given every half of the 2n records (rows in lexicographic order). "
        "What an output reveals to an attacker who knows the records but not which n were used: the least practical "
        "epsilon at `delta`, how often the best attacker is right, and the outputs that give the most away.",
        ("mace theory pmp-finite laws.npy --delta 0.01",),
        arrays=("laws",),
    ),
    Operation(
        "theory/pmp-gaussian",
        "theory pmp-gaussian",
        "Practical membership privacy of a sum or a mean with Gaussian noise, on these records",
        "What the result reveals to an attacker who knows the 2n candidate records but not which n were used; every "
        "half is equally likely. Give `sigma`, or `epsilon` for the least noise that is (epsilon, delta)-DP, or the "
        "`practical_epsilon` you want.",
        ("mace theory pmp-gaussian points.npy --clip 1 --sigma 0.1 --delta 1e-5",),
        arrays=("points",),
    ),
    Operation(
        "theory/one-run",
        "theory one-run",
        "What one training run shows of a promise, and how large epsilon is at least",
        "Say how members were drawn: `draw` is `coin` if each record was in by a fair coin of its own (canaries), "
        "`split` if the sides are a random split of one list. The promise, if there is one, is as for `theory dp`. "
        "Epsilon is bounded whatever the mechanism; nobody chooses a number of guesses. Of several independent runs "
        "that `model` tells apart, it is bounded after each, and one may stop after any. Members that were not drawn "
        "give no certificate.",
        (
            "mace theory one-run canaries.csv --draw coin --mu 1 --delta 1e-5",
            "mace theory one-run scores.csv --draw split --epsilon 4 --delta 1e-5 --adjacency add_remove",
            "mace theory one-run canaries.csv --draw coin --curve 0.5:0.01,1:1e-4,2:1e-6",
            "mace theory one-run runs.csv --draw coin --model run --epsilon 4",
        ),
        stem="onerun",
        counts_suffice=True,
    ),
    Operation(
        "theory/together",
        "theory together",
        "What a claimed epsilon and delta allow, next to what the records show",
        "All intervals hold together. If nothing is contradicted, that does not prove the claim.",
        ("mace theory together scores.csv --claimed-epsilon 1 --claimed-delta 1e-5",),
        counts_suffice=True,
        by_clusters=True,
    ),
)
