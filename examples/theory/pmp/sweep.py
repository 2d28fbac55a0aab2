"""One figure of ratios: its table, its chart, and the script around them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from examples.theory.drawing import line_chart, write_svg
from examples.theory.table import arguments, table


@dataclass(frozen=True)
class Sweep:
    """Ratios against one setting; solid in the reading that gives the paper's numbers, dashed in the one it defines."""

    title: str
    setting: str
    at: tuple[float, ...]
    solid: Mapping[str, tuple[float, ...]]
    dashed: Mapping[str, tuple[float, ...]]
    log_x: bool = False
    log_y: bool = False

    def table(self) -> str:
        """A row for each value of the setting."""
        series = {**self.solid, **self.dashed}
        return table(
            (self.setting, *series), [(x, *(values[i] for values in series.values())) for i, x in enumerate(self.at)]
        )

    def draw(self, path: str) -> None:
        """All series as lines."""
        series = {name: (self.at, values) for name, values in {**self.solid, **self.dashed}.items()}
        chart = line_chart(
            self.title, self.setting, "ratio", series, log_x=self.log_x, log_y=self.log_y, dashed=tuple(self.dashed)
        )
        write_svg(chart, path)


def run(about: str, sweep: Callable[[bool], Sweep]) -> None:
    """Print the table of a figure; draw it, if asked. ``sweep`` is told whether a small size will do."""
    options = arguments(about).parse_args()
    result = sweep(options.quick)
    print(result.table())
    if options.o:
        result.draw(options.o)
