"""Exit with 0 if the service in this container answers /healthz, else with 1: the image's HEALTHCHECK, without curl.

It asks where the environment says that the service listens; a service set up by a file must name its port there too.
"""

import http.client
import os
import sys

EVERYWHERE = {"": "127.0.0.1", "0.0.0.0": "127.0.0.1", "::": "::1"}


def healthy() -> bool:
    """Whether /healthz answers 200 within two seconds."""
    host = os.environ.get("MACE_HOST", "")
    port = int(os.environ.get("MACE_PROBE_PORT") or 0) or int(os.environ.get("MACE_PORT", "8000"))
    connection = http.client.HTTPConnection(EVERYWHERE.get(host, host), port, timeout=2)
    try:
        connection.request("GET", "/healthz")
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


if __name__ == "__main__":
    sys.exit(0 if healthy() else 1)
