#!/bin/bash
# The tests of oxmpi-mem on AArch64, on a machine that is none: cross-compiled, and run by qemu.
#
#     run.sh FOLDER
#
# Takes Debian's compiler and its standard library for both machines, unpacked into FOLDER; nothing is installed.
# Needs the packages gcc-aarch64-linux-gnu, libc6-dev-arm64-cross and qemu-user.
set -euo pipefail
cd "$(dirname "$0")/../.."
folder=$1
target=aarch64-unknown-linux-gnu

for program in aarch64-linux-gnu-gcc qemu-aarch64; do
    command -v $program > /dev/null || { echo "run.sh: there is no $program" >&2; exit 1; }
done

if [ ! -d "$folder/compiler" ]; then
    rm -rf "$folder/apt"
    mkdir -p "$folder"/apt/{archives,lists}/partial "$folder/unpacked"
    # Lists of our own, because the system's need not know of the other machine's packages.
    apt=(-o Dir::State::Lists="$folder/apt/lists" -o Dir::Cache="$folder/apt" -o APT::Sandbox::User=
        -o APT::Architectures::=amd64 -o APT::Architectures::=arm64 -qq)
    apt-get "${apt[@]}" update
    own=$(apt-cache "${apt[@]}" depends --recurse --important rustc-web |
        grep -E '^(rustc-web|libstd-rust-web|libllvm)' | sort -u)
    (cd "$folder/apt" && apt-get "${apt[@]}" download $own libstd-rust-web-dev:arm64)
    for package in "$folder"/apt/*.deb; do
        dpkg --extract "$package" "$folder/unpacked"
    done
    rm -rf "$folder/apt"
    mv "$folder/unpacked" "$folder/compiler"
fi

export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER="qemu-aarch64 -L /usr/aarch64-linux-gnu"
export CARGO_TARGET_DIR="$folder/target" RUSTC="$folder/compiler/usr/bin/rustc"
export LD_LIBRARY_PATH="$folder/compiler/usr/lib/x86_64-linux-gnu"
exec "${CARGO:-cargo}" test --package oxmpi-mem --lib --target $target
