"""Killable worker processes, the requests that are admitted to them, and how bodies reach them.

intake      a request's body as it arrives: limits, pace, a client that leaves
pool        the pool of workers: which requests wait, which are worked on, which worker is ended and why
processes   workers and their fork server as the service sees them
forkserver  what runs in the fork server and in a worker, and what a request names instead of sending it
admission   how much may be under way
privileges  what the server and its workers give up: rights, memory, files by Landlock, system calls by seccomp
uploads     where a body lies while it arrives
channel     messages between service and worker
"""
