"""Killable worker processes, what is admitted to them, and how bodies reach them.

intake      a request's body as it arrives: limits, pace, a client that leaves
pool        the crew of workers: who waits, who works, who is ended and why
admission   how much may be under way; crew: workers and their nursery as the server sees them
worker      what runs in a worker; nursery: the process that workers are forked from
spool, pipe where a body lies while it arrives; wire: what server and worker say to each other
"""
