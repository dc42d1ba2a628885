#!/usr/bin/env bash
# Builds the oneTBB that is installed (its release, without the distribution's patches) once more with ThreadSanitizer,
# into build/tsan-tbb, where the test preset `tsan` has it found. ThreadSanitizer does not see what an uninstrumented
# scheduler orders, and takes its every task for a race.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
out=$root/build/tsan-tbb
[ ! -e "$out/libtbb.so.12" ] || exit 0

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir -p "$scratch/sources" "$scratch/lists/partial" "$scratch/cache/archives/partial" "$out"

# The archives that this machine has its packages from, for their sources: with lists and a cache of their own, so
# that nothing of the machine's is changed.
sed -n 's/^deb /deb-src /p' /etc/apt/sources.list /etc/apt/sources.list.d/*.list > "$scratch/sources/all.list" 2>/dev/null || true
for deb822 in /etc/apt/sources.list.d/*.sources; do
  [ ! -e "$deb822" ] || sed 's/^Types:.*/Types: deb-src/' "$deb822" > "$scratch/sources/$(basename "$deb822")"
done
apt=(apt-get -q -o Dir::Etc::SourceList=/dev/null -o "Dir::Etc::SourceParts=$scratch/sources"
     -o "Dir::State::Lists=$scratch/lists" -o "Dir::Cache=$scratch/cache" -o APT::Sandbox::User=root)
"${apt[@]}" update
version=$(dpkg-query -W -f '${source:Version}' libtbb-dev)
(cd "$scratch" && "${apt[@]}" source --download-only "onetbb=$version")
mkdir "$scratch/onetbb"
tar xf "$scratch"/onetbb_*.orig.tar.?z -C "$scratch/onetbb" --strip-components=1

cmake -S "$scratch/onetbb" -B "$scratch/build" -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -DTBB_TEST=OFF \
      -DTBB_STRICT=OFF -DTBBMALLOC_BUILD=OFF -DTBB_ENABLE_IPO=OFF -DTBB_SANITIZE=thread
ninja -C "$scratch/build" tbb
cp -P "$scratch"/build/*/libtbb.so* "$out"
