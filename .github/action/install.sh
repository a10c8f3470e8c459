#!/usr/bin/env bash
# Installs the command from a release of this project into FOLDER and prints where it lies.
#
#   install.sh RELEASES VERSION FOLDER
#
# RELEASES is the address under which the files of releases lie, VERSION a tag such as v0.1.0. The sum that is published
# beside the archive must be right.
set -euo pipefail

releases=${1:?the address of releases} version=${2:?a version, such as v0.1.0} folder=${3:?a folder}

case "$(uname -s)" in
  Linux) system=unknown-linux-musl ;;
  Darwin) system=apple-darwin ;;
  MINGW* | MSYS* | CYGWIN*) system=pc-windows-msvc ;;
  *) echo "there is no release for $(uname -s); build it: cargo install --path ." >&2; exit 2 ;;
esac
case "$(uname -m)" in
  x86_64 | amd64) machine=x86_64 ;;
  arm64 | aarch64) machine=aarch64 ;;
  *) echo "there is no release for $(uname -m); build it: cargo install --path ." >&2; exit 2 ;;
esac

archive="scrimp-$version-$machine-$system.tar.gz"
mkdir -p "$folder"
cd "$folder"
for file in "$archive" "$archive.sha256"; do
  curl --fail --silent --show-error --location --retry 3 --output "$file" "$releases/$version/$file" || {
    echo "$releases/$version has no $file" >&2
    exit 2
  }
done
if command -v sha256sum >/dev/null; then check="sha256sum --check --quiet"; else check="shasum -a 256 --check --quiet"; fi
$check "$archive.sha256" >&2 || { echo "$archive is not what was published" >&2; exit 2; }
tar -xzf "$archive"
rm -f "$archive" "$archive.sha256"
program="$PWD/scrimp"
[ -x "$program" ] || program="$PWD/scrimp.exe"
"$program" --version >&2
echo "$PWD"
