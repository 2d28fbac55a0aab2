"""A log that nobody reads, over real pipes: requests are answered, and what was dropped is counted."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from tests.app.http.asked import metric
from tests.app.running import PATIENCE, SERVE, Running, port_of, start

LONG = {"X-Request-ID": "x" * 64}


def test_a_log_that_nobody_reads_holds_nobody_up(tmp_path: Path) -> None:
    reader, writer = os.pipe()
    with start(tmp_path, SERVE, output=writer) as process:
        os.close(writer)
        service = Running(process, port_of(tmp_path, process), tmp_path)
        for _ in range(1000):  # each a line of some 250 bytes: four times what the pipe holds
            assert service.ask("/version", headers=LONG).status == 200

        process.send_signal(signal.SIGTERM)

        assert process.wait(PATIENCE) == 0
        os.close(reader)
        assert "Fatal" not in service.said()


def test_a_log_that_is_read_again_says_what_is_missing(tmp_path: Path) -> None:
    reader, writer = os.pipe()
    few = "import sys, app.telemetry.logs as logs, app.cli; logs.MOST_LINES = 100; sys.exit(app.cli.main(['serve']))"
    with start(tmp_path, ("-c", few), output=writer) as process, os.fdopen(reader) as read:
        os.close(writer)
        service = Running(process, port_of(tmp_path, process), tmp_path)
        for _ in range(1000):
            assert service.ask("/version", headers=LONG).status == 200
        assert metric(service, "mace_log_lines_dropped_total") > 0

        told = next(line for line in read if "log lines dropped" in line)

        assert '"lines": ' in told
        process.kill()
