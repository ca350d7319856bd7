# docker build -t plenum . && mkdir -p work &&
#     docker run --rm --user "$(id -u):$(id -g)" -v "$PWD/work:/work" plenum -m roles=on,off
# The digest of python:3.11-slim (3.11.16, for all platforms, August 2026).
FROM python:3.11-slim@sha256:9c900dea9e8fb7e16277c179b555cc72d29a352dbc33cff48ad5a0412fd5bfc7

RUN apt-get update && apt-get install -y --no-install-recommends gcc libc6-dev \
    && rm -rf /var/lib/apt/lists/*

WORKDIR /plenum
COPY pyproject.toml constraints.txt README.md LICENSE ./
COPY scripts/install.sh scripts/
COPY src src
# For backend=hosted: docker build --build-arg EXTRAS=hosted -t plenum .
ARG EXTRAS=""
RUN PIP_NO_CACHE_DIR=1 sh scripts/install.sh python ${EXTRAS}
COPY run.py ./
COPY conf conf
COPY scenarios scenarios
COPY scripts scripts
COPY reference reference

# Outputs go to the working directory: mount a folder there, and name its owner with --user.
ENV HOME=/tmp
WORKDIR /work
RUN chown 10001:10001 /work
USER 10001:10001
ENTRYPOINT ["python", "/plenum/run.py"]
