#!/bin/sh
# Fetches nats-server 2.10 on a Debian system into the folder given as $1, as $1/nats-server, without root: Debian 13's
# package (a static binary) is downloaded by apt, which checks Debian's signature, and unpacked. Nothing is installed.
# On failure the last line on stderr says why, for the caller to show.

set -eu
target=$1
suite=trixie
keyring=/usr/share/keyrings/debian-archive-keyring.gpg

fail() {
  echo "$*" >&2
  exit 1
}

command -v apt-get >/dev/null 2>&1 && command -v dpkg-deb >/dev/null 2>&1 || fail "this system has no apt"
[ -r /etc/os-release ] && . /etc/os-release
codename=${VERSION_CODENAME:-}
[ "${ID:-}" = debian ] && [ -n "$codename" ] || fail "this system is not a Debian release"

# The mirrors that the machine's own sources name for its Debian release, in their order. Read from the files and not
# from `apt-get indextargets`, which says nothing until apt's lists have been updated once.
mirrors() {
  awk -v codename="$codename" '
    function emit(uris, suites, components,   n, i, uri) {
      if ((" " suites " ") !~ (" " codename " ") || (" " components " ") !~ / main /) return
      n = split(uris, uri, /[ \t]+/)
      for (i = 1; i <= n; i++) if (uri[i] != "" && uri[i] !~ /^cdrom:/ && !(uri[i] in seen)) { seen[uri[i]] = 1; print uri[i] }
    }
    function end_of_stanza() {
      if (field["enabled"] !~ /no/ && field["types"] ~ /deb/) emit(field["uris"], field["suites"], field["components"])
      split("", field); name = ""
    }
    FNR == 1 { end_of_stanza(); deb822 = FILENAME ~ /\.sources$/ }
    /^[ \t]*#/ { next }
    deb822 && /^[ \t]*$/ { end_of_stanza(); next }
    deb822 && /^[ \t]/ { field[name] = field[name] " " $0; next }
    deb822 { name = tolower($0); sub(/:.*/, "", name); value = $0; sub(/^[^:]*:[ \t]*/, "", value); field[name] = value; next }
    $1 == "deb" {
      line = $0; gsub(/\[[^]]*\]/, "", line)
      n = split(line, word, /[ \t]+/); components = ""
      for (i = 4; i <= n; i++) components = components " " word[i]
      emit(word[2], word[3], components)
    }
    END { end_of_stanza() }
  ' "$@"
}

set --
for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources; do
  [ -r "$file" ] && set -- "$@" "$file"
done
[ $# -gt 0 ] || fail "apt has no sources (/etc/apt/sources.list and sources.list.d are empty)"
candidates=$(mirrors "$@")
[ -n "$candidates" ] || fail "apt's sources name no mirror for Debian $codename"

mkdir -p "$target"
work=$(mktemp -d "$target/fetch.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
mkdir -p "$work/lists/partial" "$work/cache/archives/partial"
signed_by=
[ -r "$keyring" ] && signed_by="[signed-by=$keyring] "

# As root, apt would give up its rights to a user who cannot read a folder below a home; what it fetches is signed.
apt() {
  (cd "$work" && apt-get -q -o Dir::Etc::sourcelist="$work/sources.list" -o Dir::Etc::sourceparts=- \
    -o Dir::State::lists="$work/lists" -o Dir::Cache="$work/cache" -o Acquire::Languages=none \
    -o Acquire::Retries=2 -o Acquire::http::Timeout=15 -o Acquire::https::Timeout=15 \
    -o APT::Update::Error-Mode=any -o APT::Sandbox::User= "$@")
}

for mirror in $candidates; do
  echo "deb $signed_by$mirror $suite main" >"$work/sources.list"
  if apt update && apt download nats-server && dpkg-deb -x "$work"/nats-server_*.deb "$work/unpacked"; then
    # A rename is atomic: two fetches at once leave one whole binary.
    mv "$work/unpacked/usr/sbin/nats-server" "$target/nats-server"
    exit 0
  fi
done
fail "nats-server could not be downloaded from $(echo $candidates | tr ' ' ',')"
