#!/bin/sh
# mpi4py, built from source against an installed oxmpi: its programs, ours, and its own tests (suite.py). The example
# in Python must print what the one in C does.
#
# usage: run.sh PREFIX [FOLDER]
#
# PREFIX is what `cargo xtask install --prefix` was given. The Python environment is made in FOLDER and kept
# there, or in a temporary folder and removed.
set -eu

if [ $# -lt 1 ] || [ $# -gt 2 ]; then
    sed -n '2,8s/^# \{0,1\}//p' "$0" >&2
    exit 2
fi
prefix=$(cd "$1" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
version=4.1.2

if [ $# -eq 2 ]; then
    mkdir -p "$2"
    folder=$(cd "$2" && pwd)
else
    folder=$(mktemp -d)
    trap 'rm -rf "$folder"' EXIT
    trap 'exit 130' INT TERM
fi
python=$folder/venv/bin/python

pip() {
    "$python" -m pip --quiet --no-cache-dir --disable-pip-version-check "$@"
}

if [ ! -d "$folder/mpi4py-$version" ]; then
    python3 -m venv "$folder/venv"
    pip download --no-deps --no-binary mpi4py --dest "$folder" "mpi4py==$version"
    # Optimising the generated C takes minutes, and nothing here measures it.
    CFLAGS=-O0 MPI4PY_BUILD_MPIABI=1 MPI4PY_BUILD_MPICC="$prefix/bin/mpicc" \
        pip install "$folder/mpi4py-$version.tar.gz"
    tar -xzf "$folder/mpi4py-$version.tar.gz" -C "$folder"
fi

run() {
    echo "mpiexec -n $ranks python $*"
    "$prefix/bin/mpiexec" -n "$ranks" --timeout 240 "$python" -B "$@"
}

# Workers that tests spawn import what they shall run from there.
export PYTHONPATH="$folder/mpi4py-$version/test"

heat=$here/../../examples/heat
"$prefix/bin/mpicc" -O2 "$heat/heat.c" -o "$folder/heat"

# All of it on four or five ranks, the collectives alone on the others: which these are changes with the commit.
commit=$(git -C "$here" rev-parse --short=7 HEAD 2> /dev/null || echo 0)
many=$((4 + 0x$commit % 2))

for ranks in 1 2 $many; do
    run "$heat/heat.py" | tee "$folder/heat.out"
    [ "$(tail -n 1 "$folder/heat.out")" = "$("$prefix/bin/mpiexec" -n "$ranks" "$folder/heat")" ]
    run -m mpi4py.bench helloworld
    run -m mpi4py.bench ringtest --loop 1000 --size 1024
    run "$here/collectives.py"
    run "$here/suite.py" "$folder/mpi4py-$version/test"
done

# Pools of workers that a job of one rank spawns, or a process without a launcher.
ranks=1
run "$here/pool.py"
"$python" -B "$here/pool.py"

for ranks in 3 $((9 - many)); do
    run "$here/suite.py" "$folder/mpi4py-$version/test" $(basename -s .py "$folder/mpi4py-$version/test"/test_cco_*.py)
done
