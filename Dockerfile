# Parley in a container; docs/operate.md says how to run it. `.ci/container` tries these steps in a bare Debian.
FROM python:3.13-slim-bookworm AS build
COPY requirements-cluster.lock /opt/parley/
RUN python3 -m venv /opt/parley/venv \
    && /opt/parley/venv/bin/python -m pip install --no-cache-dir --no-compile --disable-pip-version-check \
        --only-binary :all: --require-hashes -r /opt/parley/requirements-cluster.lock
COPY pyproject.toml README.md LICENSE /opt/parley/
COPY agent_core /opt/parley/agent_core
COPY channels /opt/parley/channels
COPY gateway /opt/parley/gateway
COPY parley /opt/parley/parley
COPY skills /opt/parley/skills
# What a Python of another version cannot compile is nothing that this one imports.
RUN for packages in /opt/parley/venv/lib/python3*/site-packages; do echo /opt/parley >"$packages/parley.pth"; done \
    && { /opt/parley/venv/bin/python -m compileall -q -j 0 /opt/parley >/dev/null || :; }

FROM python:3.13-slim-bookworm
COPY --from=build /opt/parley /opt/parley
RUN useradd --uid 10001 --no-create-home --home-dir /data --shell /usr/sbin/nologin parley \
    && install -d -o parley -g parley -m 0700 /data
ENV PARLEY_HOME=/data HOME=/data PYTHONDONTWRITEBYTECODE=1
USER 10001:10001
WORKDIR /data
VOLUME /data
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s CMD ["/opt/parley/venv/bin/python", "-P", "-c", "import os, urllib.request; urllib.request.urlopen('http://127.0.0.1:' + os.environ.get('PARLEY_WEB_PORT', '8765') + '/healthz', timeout=3)"]
ENTRYPOINT ["/opt/parley/venv/bin/python", "-P", "-m", "gateway.cli"]
CMD ["run"]
