# docker build -t plenum . && docker run --rm -v "$PWD/work:/work" plenum -m roles=on,off
FROM python:3.11-slim

RUN apt-get update && apt-get install -y --no-install-recommends gcc libc6-dev \
    && rm -rf /var/lib/apt/lists/*

WORKDIR /plenum
COPY pyproject.toml constraints.txt README.md LICENSE ./
COPY src src
# For backend=hosted: docker build --build-arg EXTRAS=[hosted] -t plenum .
ARG EXTRAS=""
RUN pip install --no-cache-dir -c constraints.txt -e ".${EXTRAS}"
COPY run.py ./
COPY conf conf
COPY scenarios scenarios
COPY scripts scripts
COPY reference reference

# Outputs go to the working directory: mount it, and run as whoever owns it (--user).
ENV HOME=/tmp
WORKDIR /work
ENTRYPOINT ["python", "/plenum/run.py"]
