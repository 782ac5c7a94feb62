package coppice.api.legacy;

/// What runs in a guest for its services. Names come by the environment, unit files by stdin. A status of its own tells why a script gave
/// up; 1 is systemd's refusal, with its words on stderr.
final class SystemdScripts {
    static final int ABSENT = 80;
    static final int EXISTS = 81;
    static final int NO_USER = 82;
    static final int NO_GROUP = 83;
    static final int NO_SYSTEMD = 90;

    private static final String BEGIN =
            """
            [ -d /run/systemd/system ] || exit 90
            refused() { printf '%s\\n' "$said" >&2; exit 1; }
            state() { systemctl "$MANAGER" show -P LoadState -- "$UNIT"; }
            if [ "$MANAGER" = --user ]; then dir=$HOME/.config/systemd/user; else dir=/etc/systemd/system; fi
            umask 022
            """;

    private static final String FOUND = BEGIN + "[ \"$(state)\" != not-found ] || exit 80\n";

    /// Has the manager of a user run, now and from every boot on, and prints the user's number. No log-in sets its directory here.
    static final String MANAGER =
            """
            [ -d /run/systemd/system ] || exit 90
            uid=$(id -u -- "$MANAGED" 2>/dev/null) || exit 82
            file=/etc/systemd/system/user@.service.d/50-runtime-directory.conf
            if ! [ -e "$file" ]; then
              mkdir -p "${file%/*}"
              printf '[Service]\\nEnvironment=XDG_RUNTIME_DIR=/run/user/%%i\\n' >"$file"
              systemctl daemon-reload || exit 1
            fi
            if ! systemctl --quiet is-active "user@$uid.service"; then
              loginctl enable-linger -- "$MANAGED" >/dev/null 2>&1
              systemctl reset-failed "user@$uid.service" >/dev/null 2>&1
              systemctl start "user@$uid.service" || exit 1
            fi
            echo "$uid"
            """;

    static final String LIST =
            BEGIN
                    + """
                    systemctl "$MANAGER" list-unit-files --type=service --no-legend --plain --no-pager | cut -d' ' -f1
                    systemctl "$MANAGER" list-units --all --type=service --no-legend --plain --no-pager |
                      while read -r unit load rest; do [ "$load" = not-found ] || printf '%s\\n' "$unit"; done
                    """;

    /// A unit appears whole or not at all, and not over another one.
    static final String CREATE =
            BEGIN
                    + """
                    [ -z "$RUN_AS" ] || getent passwd -- "$RUN_AS" >/dev/null || exit 82
                    [ -z "$RUN_GROUP" ] || getent group -- "$RUN_GROUP" >/dev/null || exit 83
                    [ "$(state)" = not-found ] || exit 81
                    mkdir -p -- "$dir" || exit 1
                    new=$dir/.new-$$
                    trap 'rm -f -- "$new"' EXIT
                    cat >"$new" || exit 1
                    if ! ln -T -- "$new" "$dir/$UNIT"; then
                      [ ! -e "$dir/$UNIT" ] || exit 81
                      exit 1
                    fi
                    undo() {
                      systemctl "$MANAGER" disable -- "$UNIT" >/dev/null 2>&1
                      rm -f -- "$dir/$UNIT"
                      systemctl "$MANAGER" daemon-reload
                      refused
                    }
                    said=$(systemctl "$MANAGER" daemon-reload 2>&1) || undo
                    loaded=$(state)
                    said="its unit is $loaded"
                    [ "$loaded" = loaded ] || undo
                    [ -n "$ENABLE" ] || exit 0
                    said=$(systemctl "$MANAGER" enable -- "$UNIT" 2>&1) || undo
                    said=$(systemctl "$MANAGER" start --no-block -- "$UNIT" 2>&1) || undo
                    """;

    static final String PATCH =
            FOUND
                    + """
                    mkdir -p -- "$dir/$UNIT.d" && cat >"$dir/$UNIT.d/50-patched.conf" || exit 1
                    said=$(systemctl "$MANAGER" daemon-reload 2>&1) || refused
                    loaded=$(state)
                    said="its unit is $loaded"
                    [ "$loaded" = loaded ] || refused
                    if [ -n "$ENABLE" ]; then said=$(systemctl "$MANAGER" "$ENABLE" -- "$UNIT" 2>&1) || refused; fi
                    said=$(systemctl "$MANAGER" try-restart --no-block -- "$UNIT" 2>&1) || refused
                    """;

    static final String DELETE =
            FOUND
                    + """
                    file=$(systemctl "$MANAGER" show -P FragmentPath -- "$UNIT")
                    systemctl "$MANAGER" stop -- "$UNIT" >/dev/null 2>&1
                    systemctl "$MANAGER" disable -- "$UNIT" >/dev/null 2>&1
                    if [ -n "$file" ]; then rm -f -- "$file" || exit 1; fi
                    rm -rf -- "$dir/$UNIT.d"
                    said=$(systemctl "$MANAGER" daemon-reload 2>&1) || refused
                    systemctl "$MANAGER" reset-failed -- "$UNIT" >/dev/null 2>&1
                    exit 0
                    """;

    static final String STATUS =
            FOUND
                    + "systemctl \"$MANAGER\" show -p LoadState -p ActiveState -p SubState -p Description -- \"$UNIT\"\n";

    static final String ACT =
            FOUND + "said=$(systemctl \"$MANAGER\" \"$VERB\" -- \"$UNIT\" 2>&1) || refused\n";

    static final String LOGS =
            """
            [ -d /run/systemd/system ] || exit 90
            fields=MESSAGE,PRIORITY,_SYSTEMD_UNIT,UNIT,_SYSTEMD_USER_UNIT,USER_UNIT
            set -- -o json --all --quiet --no-pager -n "$LINES" --output-fields="$fields"
            [ -z "$SINCE" ] || set -- "$@" --since="$SINCE"
            if [ -n "$OWNER" ]; then
              exec journalctl "$@" "_UID=$OWNER" "_SYSTEMD_USER_UNIT=$UNIT" + "_UID=$OWNER" "USER_UNIT=$UNIT"
            fi
            exec journalctl "$@" -u "$UNIT"
            """;

    /// Waits until each of the units has come up, or one has failed: then it prints those that have, and ends with 3.
    static final String AWAIT_READY =
            """
            [ -d /run/systemd/system ] || exit 90
            while :; do
              failed= waiting=
              for unit in $UNITS; do
                state=$(systemctl show -P ActiveState -- "$unit")
                case $state in
                active) ;;
                failed) failed="$failed$unit " ;;
                inactive)
                  [ "$(systemctl show -P LoadState -- "$unit")" = not-found ] ||
                    [ "$(systemctl show -P ExecMainExitTimestampMonotonic -- "$unit")" != 0 ] || waiting=1 ;;
                *) waiting=1 ;;
                esac
              done
              [ -z "$failed" ] || { printf '%s\\n' $failed; exit 3; }
              [ -n "$waiting" ] || exit 0
              sleep 0.2
            done
            """;

    private SystemdScripts() {}
}
