"""Faults put into the product, one at a time: does a test fail?

    git clone . /tmp/tree && /tmp/tree/scripts/setup run test        # a tree that may be broken, with its own .venv
    .venv/bin/python -m benchmarks.mutants map --tree /tmp/tree      # which test enters which function: one run of all
    .venv/bin/python -m benchmarks.mutants run --tree /tmp/tree      # every fault against the tests that enter it
    .venv/bin/python -m benchmarks run mutants                       # what was found: of the outcomes in `outcomes/`

`faults.json` holds them: half were drawn at random from the syntax tree (`sample`, with its seed), half written
by hand after mistakes that a person makes. A fault is a function's name and a piece of its text with what stands there
instead; it is looked for by name wherever the function stands, so that moved code keeps its faults. The first
failing test ends a fault; one that no test finds within the budget of test seconds is reported as missed.
What a fixture of several tests enters counts for the first of them alone: the outcome of
`the-last-worker-may-be-held-by-uploads` was found by running its test file with the fault put in by hand.
"""
