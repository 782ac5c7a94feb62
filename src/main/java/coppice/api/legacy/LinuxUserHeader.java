package coppice.api.legacy;

import coppice.api.BrandedHeader;
import coppice.api.Call;
import coppice.base.Code;
import coppice.base.Failure;
import coppice.identity.LinuxUsers;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/// The header by which a legacy call names the Linux user it acts as.
final class LinuxUserHeader {
    private static final Pattern USER = Pattern.compile("[A-Za-z_][A-Za-z0-9_.-]{0,31}");

    private final List<String> names;

    LinuxUserHeader(String brand) {
        this.names = new BrandedHeader(brand).names("X-%s-Vm-Linux-User-Id");
    }

    /// Refuses to act as somebody whom the caller may not act as.
    void check(LinuxUsers users, Optional<String> wanted) {
        users.check(names.getFirst(), wanted);
    }

    /// Those whom the call names, or all as whom the caller may act.
    LinuxUsers narrow(LinuxUsers users, Call call) {
        return users.narrowed(names.getFirst(), of(call));
    }

    /// Refuses as `BAD_REQUEST` what no user is called. Whether there is such a user, only the VM knows.
    Optional<String> of(Call call) {
        var user = BrandedHeader.single(call.headers(), names);
        if (user.filter(name -> !USER.matcher(name).matches()).isPresent()) {
            throw new Failure(
                    Code.BAD_REQUEST, "%s is no name of a Linux user".formatted(names.getFirst()));
        }
        return user;
    }
}
