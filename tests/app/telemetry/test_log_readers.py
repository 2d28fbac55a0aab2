"""A log that nobody reads, over real pipes: requests are answered, and what was dropped is counted."""

import os
import signal
from fcntl import F_SETPIPE_SZ, fcntl
from pathlib import Path

import pytest

from tests.app.http.asked import metric
from tests.app.running import PATIENCE, Running, port_of, start

FEW = "import sys, app.telemetry.logs as logs, app.cli; logs.MOST_LINES = 20; sys.exit(app.cli.main(['serve']))"


def asked_often(service: Running) -> None:
    for _ in range(100):  # each a line of some 250 bytes: more than twice what pipe and queue hold
        assert service.ask("/version", headers={"X-Request-ID": "x" * 64}).status == 200


@pytest.mark.slow
def test_a_log_that_nobody_reads_holds_nobody_up_and_says_what_is_missing_once_it_is_read(tmp_path: Path) -> None:
    reader, writer = os.pipe()
    fcntl(writer, F_SETPIPE_SZ, 4096)
    with start(tmp_path, ("-c", FEW), output=writer) as process, os.fdopen(reader) as read:
        os.close(writer)
        service = Running(process, port_of(tmp_path, process), tmp_path)
        asked_often(service)
        assert metric(service, "mace_log_lines_dropped_total") > 0
        told = next(line for line in read if "log lines dropped" in line)
        asked_often(service)

        process.send_signal(signal.SIGTERM)

        assert process.wait(PATIENCE) == 0
    assert '"lines": ' in told
    assert "Fatal" not in service.said()
