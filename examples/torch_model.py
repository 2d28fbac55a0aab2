"""From a PyTorch network to a verdict: one that remembers noisy scans of digits, by its answers and by its layers.

    pip install torch
    python examples/torch_model.py

mace imports no PyTorch: a model is a function of rows, whatever it is made of. Where PyTorch is not installed a network
of scikit-learn stands in its place here, and nothing else changes. A hidden layer is a vector for each row; a learned
adversary finds what it says (white box; MACE, appendix I); a third of the rows, on neither side, is its scale.
"""

import sys
from collections.abc import Callable

import numpy as np
from sklearn.datasets import load_digits
from sklearn.neural_network import MLPClassifier

import macekit
from estimators.audits.queries.white_box import hidden_distance, hidden_features

try:
    import torch
except ModuleNotFoundError:
    torch = None

Network = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]
"""From rows to what the hidden layer makes of them, and the logits."""


def torch_network(rows: np.ndarray, labels: np.ndarray, seed: int) -> Network:
    """A small network, fitted until it is right about nearly every row."""
    torch.manual_seed(seed)
    net = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 10))
    x, y = torch.as_tensor(rows, dtype=torch.float32), torch.as_tensor(labels)
    optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
    for _ in range(100):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(net(x), y).backward()
        optimizer.step()
    net.eval()

    def layers(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        with torch.no_grad():
            hidden = net[:2](torch.as_tensor(rows, dtype=torch.float32))
            return hidden.numpy(), net[2:](hidden).numpy()

    return layers


def sklearn_network(rows: np.ndarray, labels: np.ndarray, seed: int) -> Network:
    """One of the same layers and the same loss, where PyTorch is not installed."""
    net = MLPClassifier((64,), learning_rate_init=0.01, tol=0.01, random_state=seed)
    net.fit(rows.astype(np.float32), labels)

    def layers(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        hidden = np.maximum(rows @ net.coefs_[0] + net.intercepts_[0], 0.0)
        return hidden, hidden @ net.coefs_[1] + net.intercepts_[1]

    return layers


def main() -> None:
    """Print the audit of a network's answers, the same beside shadows, and its hidden layer's interval."""
    train = sklearn_network if torch is None else torch_network
    if torch is None:
        print("PyTorch is not installed: a network of scikit-learn stands in its place", file=sys.stderr)
    else:
        torch.set_num_threads(1)
    rng = np.random.default_rng(0)
    rows, labels = load_digits(return_X_y=True)
    rows = rows / 16 + rng.normal(0, 0.3, rows.shape)  # of a noisy scan much can be remembered
    parts = np.array_split(rng.permutation(len(rows)), 3)
    (X_train, y_train), (X_test, y_test), (X_other, y_other) = ((rows[at], labels[at]) for at in parts)

    net = train(X_train, y_train, seed=0)
    sides = X_train, y_train, X_test, y_test
    print(macekit.audit_model(lambda X: net(X)[1], *sides, outputs="logits", max_advantage=0.1))

    def shadow(X: np.ndarray, y: np.ndarray, seed: int):
        other = train(X, y, seed)
        return lambda rows: other(rows)[1]

    audit = macekit.audit_model(lambda X: net(X)[1], *sides, outputs="logits", max_advantage=0.1, shadows=8, fit=shadow)
    print(f"\nBeside 8 shadows. {audit.sentence}")

    hidden = [net(each)[0] for each in (X_train, X_test, X_other)]
    vectors = [hidden_features(each, reference=hidden[2]) for each in hidden[:2]]
    near = [
        hidden_distance(each, hidden[2], own, y_other) for each, own in zip(hidden, (y_train, y_test), strict=False)
    ]
    print("\nThe hidden layer:")
    for name, pair in (("hidden_features", vectors), ("hidden_distance", near)):
        ends = macekit.estimate(*pair).advantage
        print(f"{name:16} {ends.lower:.3f} to {ends.upper:.3f}")


if __name__ == "__main__":
    main()
