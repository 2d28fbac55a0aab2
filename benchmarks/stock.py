"""The handler anyone would write first, as a yardstick: FastAPI, pydantic and NumPy, with W_N on 100 equal cells.

uvicorn benchmarks.stock:app
"""

import numpy as np
from fastapi import FastAPI
from pydantic import BaseModel

app = FastAPI()


class Sample(BaseModel):
    members: list[float]
    nonmembers: list[float]


@app.post("/advantage")
def advantage(sample: Sample) -> dict[str, float]:
    members, nonmembers = np.array(sample.members), np.array(sample.nonmembers)
    ends = min(members.min(), nonmembers.min()), max(members.max(), nonmembers.max())
    r, _ = np.histogram(members, 100, ends)
    q, _ = np.histogram(nonmembers, 100, ends)
    return {"W_N": float(np.abs(r / len(members) - q / len(nonmembers)).sum() / 2)}


@app.post("/trivial")
async def trivial(sample: Sample) -> dict[str, int]:
    return {"n": len(sample.members)}
