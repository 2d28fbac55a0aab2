"""Pictures of answers: one module a kind of picture, from the answer's JSON to a Vega-Lite specification.

A picture brings along what it says in words and the numbers behind it, and holds nothing but data of the answer:
no address, no script, nothing that would be fetched. Which pictures an answer has is said beside its content.
"""
