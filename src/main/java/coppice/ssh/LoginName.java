package coppice.ssh;

import coppice.base.Secret;
import coppice.vm.VmId;
import java.util.Optional;
import java.util.regex.Pattern;

/// The user name of an SSH login: `<vmId>:<token>` or `<vmId>+<linuxUser>:<token>`.
///
/// @param user absent: the VM's default Linux user
/// @param token an identity access token, not checked yet
record LoginName(VmId vm, Optional<String> user, Secret token) {
    private static final Pattern FORM =
            Pattern.compile(
                    "(vm-[a-z0-9]{20})(?:\\+([a-z_][a-z0-9_-]{0,31}))?:([A-Za-z0-9_]{1,200})");

    /// Empty if it is none.
    static Optional<LoginName> parse(String text) {
        var found = FORM.matcher(text);
        return found.matches()
                ? Optional.of(
                        new LoginName(
                                new VmId(found.group(1)),
                                Optional.ofNullable(found.group(2)),
                                new Secret(found.group(3))))
                : Optional.empty();
    }
}
