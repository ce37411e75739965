#!/bin/bash
# tutorial.sh: docs/TUTORIAL.md as a user who has installed the program reads it.
#   tutorial.sh SOURCE BUILD
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake --install "$2" --prefix "$work" >/dev/null
mkdir "$work/python" # the system's, which has NumPy
ln -s /usr/bin/python3 "$work/python/python3"
export PATH=$work/python:$work/bin:$PATH PYTHONPATH=$1/python PYTHONDONTWRITEBYTECODE=1
library=$(dirname "$(find "$work" -name liblengthen.so.0)")
export LD_LIBRARY_PATH=$library LENGTHEN_LIBRARY=$library/liblengthen.so.0 PKG_CONFIG_PATH=$library/pkgconfig
"$1/scripts/tutorial" "$1/docs/TUTORIAL.md"
