"""Has a service share with its replicas: puts what the store keeps in the place of what it would keep by itself."""

from __future__ import annotations

from app.http.service import Service
from app.settings import STATES
from app.store.chains import Chains
from app.store.database import Store
from app.store.jobs import JobsInStore
from app.store.pace import PaceInStore
from app.store.runs import RunsInStore


def share(service: Service, address: str) -> None:
    """Share jobs, runs of batches, the pace of keys and the ends of audit chains by the store at this address."""
    settings, pool = service.settings, service.pool
    store = Store(address)

    def has_room() -> bool:
        return pool.ready and not service.draining

    jobs = JobsInStore(store, pool.budget, settings.keep_answers, has_room, settings.processes)
    pace = PaceInStore(store)
    service.store, service.jobs, service.pace = store, jobs, pace
    store.duties.append(jobs.keep_up)
    store.chores += [jobs.forget, pace.forget]
    store.listeners.append(jobs.hear)
    if service.signer is not None:
        runs = RunsInStore(store, service.signer.derived_keys(STATES), settings.keep_runs)
        service.runs = runs
        store.chores.append(runs.forget)
    if service.audit is not None:
        chains = Chains(service.audit)
        store.duties.append(chains.link)
        store.chores.append(chains.forget)
        store.last_words = chains.tell
