"""Databases for the tests of replicas, each with the role that docs/operations.md names: it owns its schema alone."""

import psycopg

PASSWORD = "hunter2-of-the-store"


def database(postgres: str, name: str) -> str:
    """The address of a new database for its own role; it goes with the server."""
    with psycopg.connect(postgres, autocommit=True) as server:
        server.execute(f"CREATE DATABASE {name}")  # type: ignore[arg-type]
        server.execute(f"CREATE ROLE {name} LOGIN PASSWORD '{PASSWORD}'")  # type: ignore[arg-type]
        server.execute(f"REVOKE ALL ON DATABASE {name} FROM public")  # type: ignore[arg-type]
        server.execute(f"GRANT CONNECT ON DATABASE {name} TO {name}")  # type: ignore[arg-type]
    with psycopg.connect(postgres.replace("/postgres?", f"/{name}?"), autocommit=True) as own:
        own.execute("REVOKE ALL ON SCHEMA public FROM public")
        own.execute(f"CREATE SCHEMA mace AUTHORIZATION {name}")  # type: ignore[arg-type]
    return postgres.replace("postgres:@/postgres?", f"{name}:{PASSWORD}@/{name}?")
