package coppice.api.legacy;

/// Bodies as callers send them, for the document.
final class Examples {
    static final String CREATE_VM =
            """
            {"vcpuCount": 2, "memSizeGb": 2, "rootfsSizeGb": 10, "idleTimeoutSeconds": 600, "workdir": "/srv/app", "ports": [],
             "users": [{"name": "app", "groups": ["team"]}], "groups": [{"name": "team"}],
             "additionalFiles": {"/srv/app/run.sh": {"content": "exec sleep 1000", "executable": true}},
             "systemd": {"services": [
               {"name": "app", "mode": "service", "exec": ["/srv/app/run.sh"], "user": "app"}]}}
            """;

    static final String EXEC =
            """
            {"command": "uname -a", "timeoutMs": 60000}
            """;

    static final String FORK =
            """
            {"count": 2, "idleTimeoutSeconds": 600, "persistence": {"type": "ephemeral", "deleteEvent": "OnStop"}}
            """;

    static final String TAKE_SNAPSHOT =
            """
            {"name": "With the tools", "persistence": "persistent"}
            """;

    static final String BUILD_SNAPSHOT =
            """
            {"name": "With the tools", "template": {"vcpuCount": 2, "memSizeGb": 2, "aptDeps": ["git"]}}
            """;

    static final String CREATE_SERVICE =
            """
            {"name": "web", "mode": "service", "exec": ["exec python3 -m http.server 8000"], "user": "app",
             "workdir": "/srv", "env": {"PYTHONUNBUFFERED": "1"}, "restartPolicy": {"policy": "always", "restartSec": 1}}
            """;

    static final String CREATE_IDENTITY =
            """
            {"managed": false}
            """;

    static final String GRANT =
            """
            {"allowedUsers": ["app"]}
            """;

    private Examples() {}
}
