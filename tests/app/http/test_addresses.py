from __future__ import annotations

import pytest
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from app.http.addresses import Addresses, local_path


async def nothing(request: Request) -> Response:
    return Response()


ADDRESSES = Addresses(
    [
        Route("/a", nothing, methods=["GET"], name="read"),
        Route("/a", nothing, methods=["POST"], name="write"),
        Route("/b/{name}", nothing, methods=["GET"], name="one"),
        Route("/b/all", nothing, methods=["POST"], name="all"),
    ]
)


def test_methods_of_all_routes_at_an_address_are_known() -> None:
    found = ADDRESSES.find("/a")

    assert found is not None
    assert found.operation == "read"
    assert found.allow == "GET, HEAD, OPTIONS, POST"


def test_the_first_route_that_fits_is_the_one_as_in_the_router() -> None:
    assert ADDRESSES.find("/b/x") == ADDRESSES.find("/b/all")


@pytest.mark.parametrize("path", ["", "/", "/a/", "/A", "/b/", "/b/x/y"])
def test_what_no_route_fits_is_no_address(path: str) -> None:
    assert ADDRESSES.find(path) is None


@pytest.mark.parametrize(
    ("path", "root", "found"),
    [("/x", "", "/x"), ("/p/x", "/p", "/x"), ("/x", "/p", "/x"), ("/px", "/p", "/px"), ("/p", "/p", "/p")],
)
def test_the_path_below_the_proxys_is_what_counts(path: str, root: str, found: str) -> None:
    assert local_path({"path": path, "root_path": root}) == found
