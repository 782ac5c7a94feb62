package coppice.main;

/// An account whose identities log in by SSH.
record SshAccount(Client client) {

    /// Somebody with a token and perhaps a grant.
    ///
    /// @param path of the identity
    record Person(Client client, String path, String tokenId, String token) {
        String login(String vm) {
            return vm + ":" + token;
        }

        String login(String vm, String user) {
            return "%s+%s:%s".formatted(vm, user, token);
        }

        Person grant(String vm) {
            client.post(path + "/permissions/vm", "{\"vmId\":\"%s\"}".formatted(vm)).expect(200);
            return this;
        }

        Person grant(String vm, String user) {
            client.post(
                            path + "/permissions/vm",
                            "{\"vmId\":\"%s\",\"allowedLinuxUsers\":[\"%s\"]}".formatted(vm, user))
                    .expect(200);
            return this;
        }
    }

    Person person() {
        var path =
                "/v5/identities/"
                        + client.post("/v5/identities", "").expect(200).requiredString("id");
        var token = client.post(path + "/tokens", "").expect(200);
        return new Person(client, path, token.requiredString("id"), token.requiredString("token"));
    }
}
