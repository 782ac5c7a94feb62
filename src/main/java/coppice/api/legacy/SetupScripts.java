package coppice.api.legacy;

/// What runs in a new VM to set it up, on Debian or BusyBox. What the caller wants comes by the environment and by stdin.
final class SetupScripts {
    /// Where there is no tool for it, as on BusyBox: the next free number of a file, from $id on.
    private static final String NUMBER =
            """
            number() {
              if [ -n "$NEW_ID" ]; then
                ! grep -q "^[^:]*:[^:]*:$NEW_ID:" "$1" || { echo "the number $NEW_ID is taken" >&2; exit 1; }
                id=$NEW_ID
              else
                id=1000
                [ -z "$NEW_SYSTEM" ] || id=200
                while grep -q "^[^:]*:[^:]*:$id:" "$1"; do id=$((id + 1)); done
              fi
            }
            """;

    static final String GROUP =
            NUMBER
                    + """
                    if command -v groupadd >/dev/null; then
                      set -- groupadd
                      [ -z "$NEW_SYSTEM" ] || set -- "$@" -r
                      [ -z "$NEW_ID" ] || set -- "$@" -g "$NEW_ID"
                      exec "$@" "$NEW_NAME"
                    fi
                    ! grep -q "^$NEW_NAME:" /etc/group || { echo 'there is such a group' >&2; exit 1; }
                    number /etc/group
                    printf '%s:x:%s:\\n' "$NEW_NAME" "$id" >>/etc/group
                    """;

    /// A user whose group is there already gets it as its own.
    static final String USER =
            NUMBER
                    + """
                    own=; ! grep -q "^$NEW_NAME:" /etc/group || own=$NEW_NAME
                    bare=; if [ -n "$NEW_SYSTEM" ] || [ "$NEW_HOME" = / ]; then bare=1; fi
                    if command -v useradd >/dev/null; then
                      set -- useradd -d "$NEW_HOME" -s "$NEW_SHELL" -c "$NEW_COMMENT"
                      [ -z "$NEW_SYSTEM" ] || set -- "$@" -r
                      [ -z "$NEW_ID" ] || set -- "$@" -u "$NEW_ID"
                      [ -z "$own" ] || set -- "$@" -g "$own"
                      [ -z "$NEW_GROUPS" ] || set -- "$@" -G "$NEW_GROUPS"
                      if [ -n "$bare" ]; then set -- "$@" -M; else set -- "$@" -m; fi
                      exec "$@" "$NEW_NAME"
                    fi
                    ! grep -q "^$NEW_NAME:" /etc/passwd || { echo 'there is such a user' >&2; exit 1; }
                    IFS=,
                    for group in $NEW_GROUPS; do
                      grep -q "^$group:" /etc/group || { echo "there is no group $group" >&2; exit 1; }
                    done
                    number /etc/passwd
                    uid=$id
                    if [ -z "$own" ]; then
                      NEW_ID= number /etc/group
                      printf '%s:x:%s:\\n' "$NEW_NAME" "$id" >>/etc/group
                    fi
                    gid=$(grep "^$NEW_NAME:" /etc/group | cut -d: -f3)
                    printf '%s:x:%s:%s:%s:%s:%s\\n' "$NEW_NAME" "$uid" "$gid" "$NEW_COMMENT" "$NEW_HOME" "$NEW_SHELL" >>/etc/passwd
                    [ ! -e /etc/shadow ] || printf '%s:*:19000:0:99999:7:::\\n' "$NEW_NAME" >>/etc/shadow
                    for group in $NEW_GROUPS; do sed -i "/^$group:/{s/[^:]\\$/&,/;s/\\$/$NEW_NAME/}" /etc/group || exit; done
                    [ -n "$bare" ] || { mkdir -p -- "$NEW_HOME" && chown "$uid:$gid" "$NEW_HOME" && chmod 0755 "$NEW_HOME"; }
                    """;

    static final String FILE =
            """
            mkdir -p -- "${NEW_PATH%/*}/" && cat >"$NEW_PATH" && chmod "$NEW_MODE" "$NEW_PATH"
            """;

    /// In front of what needs the network: without a default route it would only wait for its own time limits.
    static final String NETWORK =
            """
            awk '$2 == "00000000" && $8 == "00000000" { found = 1 } END { exit !found }' /proc/net/route ||
              { [ -e /proc/net/ipv6_route ] &&
                awk '$1 ~ /^0+$/ && $2 == "00" && $10 != "lo" { found = 1 } END { exit !found }' /proc/net/ipv6_route; } ||
              { echo 'the VM has no way to the network' >&2; exit 1; }
            """;

    static final String PACKAGES =
            """
            command -v apt-get >/dev/null || { echo 'the VM has no apt-get' >&2; exit 1; }
            while IFS= read -r name; do set -- "$@" "$name"; done
            export DEBIAN_FRONTEND=noninteractive
            apt-get -q update </dev/null && exec apt-get -q install -y --no-install-recommends -- "$@" </dev/null
            """;

    private static final String HAS_GIT =
            "command -v git >/dev/null || { echo 'the VM has no git' >&2; exit 1; }\n";

    static final String GIT_SETTING =
            HAS_GIT + "exec git config --system \"$NEW_NAME\" \"$NEW_VALUE\"\n";

    static final String CLONE =
            HAS_GIT
                    + """
                    export GIT_TERMINAL_PROMPT=0
                    git clone -q -- "$NEW_URL" "$NEW_PATH" </dev/null || exit
                    [ -z "$NEW_REVISION" ] || exec git -C "$NEW_PATH" checkout -q "$NEW_REVISION" --
                    """;

    private SetupScripts() {}
}
