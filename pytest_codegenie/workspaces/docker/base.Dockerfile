# What a case works in that names no image: Python, git, pytest. Where nothing can be
# pulled, docker/base/build of the repository makes the same from Debian's packages.
ARG PYTHON
FROM python:${PYTHON}-slim
RUN apt-get update \
    && apt-get install --yes --no-install-recommends ca-certificates git \
    && rm -rf /var/lib/apt/lists/* \
    && pip install --no-cache-dir pytest \
    && useradd --uid 1000 --home-dir /home/agent --shell /bin/bash agent
