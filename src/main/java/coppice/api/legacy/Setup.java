package coppice.api.legacy;

import java.util.List;
import java.util.Map;
import java.util.Optional;

/// What is made inside a new VM before it is handed over.
///
/// @param workdir made if it is not there
/// @param patches changes of services that the VM's image has
record Setup(
        String workdir,
        List<Group> groups,
        List<User> users,
        List<String> packages,
        List<File> files,
        Git git,
        List<Service> services,
        List<Service> patches) {

    record Group(String name, Optional<Integer> gid, boolean isSystem) {}

    /// @param home absent: as is usual for its kind
    record User(
            String name,
            Optional<Integer> uid,
            String comment,
            List<String> groups,
            String home,
            String shell,
            boolean isSystem) {}

    record File(String path, byte[] content, boolean isExecutable) {}

    /// @param settings by their names, of the whole system
    record Git(Map<String, String> settings, List<Repository> repositories) {
        boolean isNothing() {
            return settings.isEmpty() && repositories.isEmpty();
        }
    }

    record Repository(String url, String path, Optional<String> revision) {}
}
