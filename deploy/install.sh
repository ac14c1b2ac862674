#!/bin/sh
# Installs timenav from a release page: downloads the program for this machine, compares its SHA-256 with the page's, and
# puts it into ~/.local/bin, or where TIMENAV_INSTALL_DIR says.
#
#   sh install.sh https://example.org/timenav/releases/download/v0.1.0
#
# The page has SHA256SUMS and timenav-VERSION-TARGET.tar.gz, as `cargo xtask dist` makes them. A sum from the same page
# shows that nothing was cut off on the way. Against whoever controls the page, give the sum that you know:
# TIMENAV_SHA256.
set -eu

fail() {
    echo "error: $*" >&2
    exit 1
}

[ $# -eq 1 ] || fail "name the page to install from, as in: sh install.sh https://example.org/timenav/v0.1.0"
page=${1%/}
case $page in
    https://* | http://127.0.0.1:* | http://localhost:*) ;;
    *) fail "$page is not an https:// address" ;;
esac

case $(uname -s)-$(uname -m) in
    Linux-x86_64) target=x86_64-unknown-linux-gnu ;;
    Linux-aarch64) target=aarch64-unknown-linux-gnu ;;
    *) fail "there is no program for $(uname -s) on $(uname -m); build it: cargo install --path crates/timenav --features full" ;;
esac

if command -v curl >/dev/null; then
    fetch() { curl --fail --silent --show-error --location "$1" --output "$2"; }
elif command -v wget >/dev/null; then
    fetch() { wget --quiet "$1" --output-document "$2"; }
else
    fail "curl or wget is needed"
fi
command -v sha256sum >/dev/null || fail "sha256sum is needed"

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
fetch "$page/SHA256SUMS" "$folder/SHA256SUMS" || fail "$page/SHA256SUMS cannot be downloaded"
line=$(grep -E "^[0-9a-f]{64}  timenav-[0-9A-Za-z.+-]+-$target\.tar\.gz\$" "$folder/SHA256SUMS") ||
    fail "$page has no program for $target"
[ "$(echo "$line" | wc -l)" -eq 1 ] || fail "$page has more than one program for $target"
sum=${line%% *}
file=${line##* }
if [ -n "${TIMENAV_SHA256:-}" ] && [ "$TIMENAV_SHA256" != "$sum" ]; then
    fail "the page has $file with the sum $sum, and TIMENAV_SHA256 says $TIMENAV_SHA256"
fi
fetch "$page/$file" "$folder/$file" || fail "$page/$file cannot be downloaded"
got=$(sha256sum "$folder/$file")
[ "${got%% *}" = "$sum" ] || fail "$file has the sum ${got%% *}, and the page says $sum: it was cut off or changed"

name=${file%.tar.gz}
tar -xzf "$folder/$file" -C "$folder" "$name/timenav" || fail "$file has no $name/timenav"
"$folder/$name/timenav" --version >/dev/null || fail "the program does not run on this machine"
to=${TIMENAV_INSTALL_DIR:-$HOME/.local/bin}
mkdir -p "$to"
# Beside it and renamed: a running timenav keeps its file.
cp "$folder/$name/timenav" "$to/.timenav.new"
chmod 755 "$to/.timenav.new"
mv "$to/.timenav.new" "$to/timenav"
echo "installed $("$to/timenav" --version) in $to"
case :$PATH: in
    *":$to:"*) ;;
    *) echo "$to is not in PATH: run $to/timenav, or add it" ;;
esac
echo "start it: timenav serve --demo"
