# The image of the service: hashed pins, one virtual environment copied over, an ordinary user.
#   docker build -t mace .        docker run --rm mace
ARG BASE=python:3.13-slim

FROM ${BASE} AS build
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1
WORKDIR /src
COPY requirements/run.txt requirements/build.txt requirements/
RUN python -m venv /opt/mace \
    && /opt/mace/bin/python -m pip install --require-hashes -r requirements/run.txt \
    && python -m venv /opt/build \
    && /opt/build/bin/python -m pip install --require-hashes -r requirements/build.txt
COPY pyproject.toml README.md LICENSE ./
COPY app app
COPY estimators estimators
RUN /opt/build/bin/python -m pip wheel --no-deps --no-index --no-build-isolation --wheel-dir /wheel . \
    && /opt/mace/bin/python -m pip install --no-deps --no-index /wheel/*.whl

FROM ${BASE}
RUN useradd --system --uid 10001 --no-create-home mace
COPY --from=build /opt/mace /opt/mace
ENV PATH=/opt/mace/bin:$PATH PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1
USER 10001
CMD ["mace", "demo"]
