# The image of the service: hashed pins in one virtual environment, an ordinary user, nothing written but /tmp.
#   docker build -t mace .
#   docker run --rm --read-only --tmpfs /tmp -p 127.0.0.1:8000:8000 -e MACE_API_KEY="$(openssl rand -hex 32)" mace
# Without a key it refuses to start, as it listens beyond its own container; docs/operations.md has the rest.
# Every stage stands on BASE: another one, or this one by its digest, NAME@sha256:..., which no registry can change.
ARG BASE=python:3.13-slim-trixie

FROM ${BASE} AS build
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1
WORKDIR /src
RUN python3 -m venv /opt/build && python3 -m venv --without-pip /opt/mace
# A mirror of packages, its address and its password stay out of the image: they come as secrets, if at all.
COPY requirements/build.txt requirements/sbom.txt requirements/
RUN --mount=type=secret,id=pip,target=/etc/pip.conf --mount=type=secret,id=ca \
    /opt/build/bin/python -m pip install --require-hashes \
    --requirement requirements/build.txt --requirement requirements/sbom.txt
COPY requirements/run.txt requirements/accounting.txt requirements/replicas.txt requirements/otel.txt requirements/
# Anything here adds OpenTelemetry, for MACE_OTLP_ENDPOINT.
ARG OTEL=
RUN --mount=type=secret,id=pip,target=/etc/pip.conf --mount=type=secret,id=ca \
    /opt/build/bin/python -m pip --python /opt/mace/bin/python install --compile --require-hashes \
    --requirement requirements/run.txt --requirement requirements/accounting.txt \
    --requirement requirements/replicas.txt \
    ${OTEL:+--requirement requirements/otel.txt}
# Not in what runs: the packages' own tests, sources, headers and data; Arrow's servers, and copies of a library of its
# own; symbols for debuggers.
COPY deploy/strip.py deploy/
RUN site=$(echo /opt/mace/lib/python3*/site-packages) \
    && find "$site" -type d -name tests -prune -exec rm -r {} + \
    && find "$site" -regex '.*\.\(pyx\|pxd\|pyi\|h\|hpp\|c\|cpp\|a\)' -delete \
    && rm -r "$site"/pyarrow/*flight* "$site"/pyarrow/include \
    "$site"/sklearn/datasets/data "$site"/sklearn/datasets/images "$site"/sklearn/datasets/descr \
    && rm "$site"/pyarrow/libarrow_python.so "$site"/pyarrow/libarrow_python.so.*.* \
    && python3 deploy/strip.py "$site"
# Dates the wheel and the bill of materials, so that they are the same bytes whenever they are built.
ARG SOURCE_DATE_EPOCH
COPY pyproject.toml README.md LICENSE ./
COPY estimators estimators
COPY macekit macekit
COPY app app
COPY scripts/keywords.py scripts/
RUN PYTHONPATH=$(echo /opt/mace/lib/python3*/site-packages) \
    /opt/build/bin/python -m pip wheel --no-deps --no-index --no-build-isolation --wheel-dir /wheel . \
    && /opt/build/bin/python -m pip --python /opt/mace/bin/python install --compile --no-deps --no-index \
    --find-links /wheel --prefix /opt/project macekit
COPY scripts/sbom.py scripts/pins.py scripts/licences.py scripts/
RUN /opt/build/bin/python scripts/sbom.py --prefix /opt/mace ${OTEL:+--otel} --output /opt/project/sbom.cdx.json

# The guide, which the service shows at /docs/guide; what builds it stays here.
FROM build AS guide
COPY requirements/docs.txt requirements/
RUN --mount=type=secret,id=pip,target=/etc/pip.conf --mount=type=secret,id=ca \
    /opt/build/bin/python -m pip --python /opt/mace/bin/python install --require-hashes \
    --requirement requirements/docs.txt
COPY SECURITY.md ./
COPY deploy/grafana deploy/grafana
COPY examples examples
COPY docs docs
RUN PYTHONPATH=/src /opt/mace/bin/python -m sphinx --quiet --fail-on-warning --doctree-dir /tmp/doctrees docs /guide

FROM ${BASE}
ARG BASE
LABEL org.opencontainers.image.title="mace" \
    org.opencontainers.image.description="Scores go in, a certified statement about membership leakage comes out." \
    org.opencontainers.image.version="0.1.0" \
    org.opencontainers.image.licenses="Apache-2.0" \
    org.opencontainers.image.base.name="${BASE}"
ENV PATH=/opt/mace/bin:$PATH HOME=/tmp PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1 MACE_HOST=0.0.0.0
# Layers: what we depend on, which seldom changes; the project, laid over it into the same environment; the guide.
COPY --from=build /opt/mace /opt/mace
COPY --from=build /opt/project /opt/mace
COPY --from=guide /guide /opt/mace/share/mace/guide
COPY deploy/healthcheck.py /opt/mace/
USER 10001:10001
WORKDIR /tmp
EXPOSE 8000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=20s --retries=3 CMD ["python", "/opt/mace/healthcheck.py"]
ENTRYPOINT ["mace"]
CMD ["serve"]
