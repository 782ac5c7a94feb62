package coppice.api.v5;

/// Bodies as callers send them, for the document.
final class Examples {
    static final String CREATE_VM =
            """
            {"slug": "web", "displayName": "Web server", "snapshotId": "svc/ubuntu", "idleTimeoutSeconds": 600,
             "metadata": {"tier": "front"}, "vpcs": [{"vpcId": "home"}],
             "firewall": {"rules": [
               {"action": "allow", "source": {"public": true}, "destination": {"port": 443, "protocol": "tcp"}},
               {"action": "allow", "source": {}, "destination": {"public": true}}]}}
            """;

    static final String FORK_VM =
            """
            {"count": 2, "displayName": "Worker", "metadata": {"tier": "workers"}, "firewall": {"rules": []}}
            """;

    static final String RESIZE_VM =
            """
            {"cpu": 4, "memory": 8192, "storage": 20000}
            """;

    static final String EXEC =
            """
            {"command": "sort -u; echo $GREETING", "env": {"GREETING": "hello"}, "stdin": "YgphCmIK",
             "linuxUser": "root", "timeoutMs": 60000}
            """;

    static final String TAKE_SNAPSHOT =
            """
            {"slug": "with-tools", "displayName": "With the tools", "autoDeleteSeconds": 2592000}
            """;

    static final String OPEN_UPLOAD =
            """
            {"path": "/srv/model.bin", "size": 734003200, "mode": 420,
             "sha256": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"}
            """;

    static final String CREATE_VPC =
            """
            {"slug": "home", "displayName": "Home", "cidr": "10.20.1.0/24",
             "firewall": {"rules": [{"action": "allow", "source": {}, "destination": {}}]}}
            """;

    static final String CREATE_RULE =
            """
            {"action": "allow", "source": {"vpcId": "home"}, "destination": {"vmId": "web", "port": 5432, "protocol": "tcp"},
             "description": "The database, for its network"}
            """;

    static final String EVALUATE =
            """
            {"source": {"address": "192.0.2.7"}, "destination": {"vmId": "web", "port": 443}, "protocol": "tcp"}
            """;

    static final String CREATE_TUNNEL =
            """
            {"slug": "office", "displayName": "Office", "routes": ["10.20.0.0/16", "fd00::/8"],
             "vpcs": [{"vpcId": "home", "remoteCidrs": ["10.20.1.128/28"]}]}
            """;

    static final String ATTACH_TUNNEL =
            """
            {"ipv4": "10.20.1.200", "exit": true}
            """;

    static final String CREATE_IDENTITY =
            """
            {"managed": false}
            """;

    static final String GRANT =
            """
            {"vmId": "vm-3k9d0x7c1m5q8w2e4r6t", "allowedLinuxUsers": ["app"]}
            """;

    private Examples() {}
}
