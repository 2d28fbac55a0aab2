"""Every kept fault has its place: one whose text was rewritten is put where its function stands now."""

from pathlib import Path

import pytest

from benchmarks.mutants.faults import broken, load

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_every_fault_can_be_made_in_the_product_as_it_stands() -> None:
    lost = []
    for fault in load():
        try:
            function, text = broken(fault, ROOT)
        except LookupError as error:
            lost.append(str(error))
        else:
            assert text != (ROOT / function.path).read_text()

    assert lost == []
