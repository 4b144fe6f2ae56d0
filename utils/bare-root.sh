# shellcheck shell=bash
# Sourced by try-fresh and try-packages: `make_bare_root FOLDER` makes
# FOLDER/root, a Debian 12 with minbase, git and certificates alone, with this
# machine's toolkit bound into it; `inside COMMAND` runs one in its /home/stark.
#
# Packages come from where this machine's apt takes them. Needs root. What is
# mounted goes with the mount namespace that `own_namespace` enters.

own_namespace() { # SCRIPT ARGUMENTS...
  if ((EUID != 0)); then
    echo "$(basename "$1"): got user $EUID, wanted root (debootstrap, mount, chroot)" >&2
    exit 2
  fi
  [[ -n ${STARK_FRESH_NAMESPACE:-} ]] || STARK_FRESH_NAMESPACE=1 exec unshare --mount --propagation private "$@"
}

bind_toolkit() { # FOLDER TOOLKIT
  mkdir -p "$1/root$2"
  mount --bind -o ro "$2" "$1/root$2"
}

make_bare_root() { # FOLDER
  local nvcc toolkit mirror path release=bookworm
  root=$1/root
  nvcc=$(command -v nvcc || echo "${CUDA_PATH:-/usr/local/cuda}/bin/nvcc")
  toolkit=$(realpath "$(dirname "$(realpath "$nvcc")")/..")
  [[ -x $toolkit/bin/nvcc ]] || { echo "no CUDA toolkit was found" >&2; exit 2; }
  command -v debootstrap > /dev/null || apt-get install -y -qq --no-install-recommends debootstrap > /dev/null
  mirror=$(apt-get indextargets --format '$(SITE) $(CODENAME) $(COMPONENT)' 'Created-By: Packages' |
    awk -v release=$release '$2 == release && $3 == "main" { print $1; exit }')
  [[ -n $mirror ]] || { echo "apt has no packages of $release" >&2; exit 2; }
  rm -rf "$1" && mkdir -p "$root"
  echo "makes a bare root of $release"
  debootstrap --variant=minbase --include=git,ca-certificates "$release" "$root" \
    "$mirror" > "$1/debootstrap.log" 2>&1 || { tail -20 "$1/debootstrap.log"; exit 1; }

  # Where packages come from, and whom to trust for it; none of it is a package.
  apt-config dump Acquire > "$root/etc/apt/apt.conf.d/90host"
  rm -f "$root/etc/apt/sources.list"
  for path in /etc/apt/sources.list /etc/apt/sources.list.d /etc/apt/auth.conf.d /etc/apt/trusted.gpg.d /etc/apt/keyrings \
    /usr/share/keyrings /usr/local/share/ca-certificates /etc/pip.conf /etc/resolv.conf /etc/hosts; do
    [[ ! -e $path ]] || cp -rL --parents "$path" "$root"
  done
  mkdir -p "$root/home/stark" "$root/usr/local"
  bind_toolkit "$1" "$toolkit"
  [[ -e $root/usr/local/cuda ]] || ln -s "$toolkit" "$root/usr/local/cuda"
  mount -t proc proc "$root/proc"
  mount --rbind /dev "$root/dev"
  inside update-ca-certificates > /dev/null 2>&1
}

inside() {
  chroot "$root" /usr/bin/env -i HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    bash -c 'cd /home/stark && '"$1"
}
