# Prepares a checkout so that the scripts can run, then runs them: packages and the project's own Node 22.
# Sourced by the entries beside it (scripts/up, scripts/test, …); what each of them does stands in its .ts file.

set -eu
root=$(cd "$(dirname "$(readlink -f "$0")")/.." && pwd)
install_log=$root/.cache/npm-install.log

fail() {
  echo "error: $*" >&2
  exit 1
}

check_machine_node() {
  command -v node >/dev/null 2>&1 || fail "Node.js 20 or later is needed and no 'node' is on PATH: install it from your system's packages or https://nodejs.org"
  node_major=$(node -p 'process.versions.node.split(".")[0]' 2>/dev/null) || fail "the 'node' on PATH ($(command -v node)) does not run: install Node.js 20 or later"
  [ "$node_major" -ge 20 ] || fail "Node.js 20 or later is needed, $(node --version) was found at $(command -v node): install a newer one"
}

# npm writes node_modules/.package-lock.json last, so an interrupted install never passes for a whole one. It is
# compared by content: a checkout or a copy changes file times at will. Optional packages may be missing by platform.
packages_are_current() {
  (cd "$root" && node -e '
    const { readFileSync } = require("node:fs");
    const packagesOf = (file) => JSON.parse(readFileSync(file, "utf8")).packages;
    let installed;
    try { installed = packagesOf("node_modules/.package-lock.json"); } catch { process.exit(1); }
    const missing = Object.entries(packagesOf("package-lock.json")).some(
      ([path, wanted]) => path !== "" && !wanted.optional && !wanted.devOptional && installed[path]?.version !== wanted.version);
    process.exit(missing ? 1 : 0);
  ')
}

install_packages() {
  packages_are_current && return 0 # another command has installed them while this one waited
  command -v npm >/dev/null 2>&1 || fail "npm is needed to install the packages and is not on PATH: install it beside $(command -v node)"
  echo "installing packages…" >&2
  # Not `npm ci`: it refuses a lock that leaves out packages for platforms which the registry at hand doesn't carry.
  # With --no-save the lock is followed, integrity included, and never rewritten.
  (cd "$root" && npm install --no-save --no-progress --loglevel=error </dev/null >"$install_log" 2>&1) || {
    cause=$(sed -n -E 's/^npm (ERR!|error) (code|network) +//p' "$install_log" | head -n 2 | paste -s -d ' ' -)
    fail "the packages could not be installed${cause:+ ($cause)}: check the network and the npm registry; the whole log is in $install_log"
  }
}

# Two commands started at once must not both rewrite node_modules: the second waits, then finds it done.
install_packages_alone() {
  mkdir -p "$root/.cache" || fail "cannot write to $root: the checkout must be writable by $(id -un)"
  if command -v flock >/dev/null 2>&1; then
    (flock 9 && install_packages) 9>"$root/.cache/install.lock" || exit 1
    return
  fi
  until mkdir "$root/.cache/install.lock.d" 2>/dev/null; do
    holder=$(cat "$root/.cache/install.lock.d/pid" 2>/dev/null || true)
    if [ -n "$holder" ] && ! kill -0 "$holder" 2>/dev/null; then rm -rf "$root/.cache/install.lock.d"; else sleep 1; fi
  done
  trap 'rm -rf "$root/.cache/install.lock.d"' EXIT
  echo $$ >"$root/.cache/install.lock.d/pid"
  install_packages
  rm -rf "$root/.cache/install.lock.d"
  trap - EXIT
}

# The machine's own node serves only as a Node 22 that strips types unasked (22.18): uWebSockets.js has no binary for later ones.
find_project_node() {
  case $(uname -m) in x86_64 | amd64) arch=x64 ;; aarch64 | arm64) arch=arm64 ;; *) arch=unknown ;; esac
  project_node=$root/node_modules/node-linux-$arch/bin/node
  if [ "$(uname -s)" = Linux ] && "$project_node" --version >/dev/null 2>&1; then return 0; fi
  if node -e 'const [major, minor] = process.versions.node.split(".").map(Number); process.exit(major === 22 && minor >= 18 ? 0 : 1)'; then
    project_node=$(command -v node)
    return 0
  fi
  fail "no Node.js 22 for this system ($(uname -s) $(uname -m)) is among the packages, and the one on PATH is $(node --version): install Node.js 22.18 or a later 22 and put it first on PATH"
}

# run_script NAME ARGS…: runs scripts/NAME.ts in place of this shell.
run_script() {
  script=$root/scripts/$1.ts
  shift
  check_machine_node
  packages_are_current || install_packages_alone
  find_project_node
  # Every process that follows loads its modules as stripped and compiled before: half of the processor time of a start.
  export NODE_COMPILE_CACHE="${NODE_COMPILE_CACHE:-$root/.cache/compiled}"
  # node:sqlite, which the embedded parts rest on, is stable enough for them and still announces itself as experimental.
  # Named by a URL, in which some characters of a path mean something else.
  preload=$(node -p 'require("node:url").pathToFileURL(process.argv[1]).href' "$root/scripts/strip-cache.mjs")
  export NODE_OPTIONS="${NODE_OPTIONS:-} --disable-warning=ExperimentalWarning --import=$preload"
  exec "$project_node" "$script" "$@"
}
