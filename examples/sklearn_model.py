"""From a scikit-learn model to a verdict: an overfitted forest on handwritten digits, and what helps.

    .venv/bin/python examples/sklearn_model.py

The first answer takes three lines: import macekit, fit, audit_model. Trees with larger leaves remember single rows
less, and are right less often. With shadows=16 the same call trains 16 such forests and tells more. One nearest
neighbour is its training set and passes: twins, which hold records known to be planted, show that its own answers are
weak queries (docs/models.md).
"""

from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier

import macekit


def main() -> None:
    """Print the audit of a forest, the sentences of two others, and what a nearest neighbour's pass is worth."""
    X, y = load_digits(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, random_state=0)

    model = RandomForestClassifier(random_state=0).fit(X_train, y_train)
    print(macekit.audit_model(model, X_train, y_train, X_test, y_test, max_advantage=0.1))

    print("\nLeaves of at least so many rows; the share that is right of training rows and of others; the verdict:")
    for leaf in (2, 20):
        model = RandomForestClassifier(min_samples_leaf=leaf, random_state=0).fit(X_train, y_train)
        audit = macekit.audit_model(model, X_train, y_train, X_test, y_test, max_advantage=0.1)
        print(f"{leaf:3} {audit.fit.members:6.1%} {audit.fit.nonmembers:6.1%}  {audit.sentence}")

    model = KNeighborsClassifier(1).fit(X_train, y_train)
    audit = macekit.audit_model(model, X_train, y_train, X_test, y_test, max_advantage=0.2, twins=4)
    print(f"\nOne nearest neighbour: {audit.sentence}\n{audit.strength.sentence}")


if __name__ == "__main__":
    main()
