#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Fails if a generated file is not what its sources give, or if one is left whose source is gone.
set -euo pipefail
cd "$(dirname "$0")/.."
fresh=$(mktemp -d)
trap 'rm -rf "$fresh"' EXIT
hack/generate.sh "$fresh"

stale=0
while read -r file; do
  diff -u "$file" "$fresh/$file" || stale=1
done < <(cd "$fresh" && find . -type f)
for file in config/crd/*.yaml; do
  [ -e "$fresh/$file" ] || { echo "$file: nothing generates it any more"; stale=1; }
done
[ $stale = 0 ] || { echo 'generated files are stale: run make generate and commit what it changes'; exit 1; }
