package coppice.vm;

import java.util.Map;
import java.util.Optional;

/// A program to be run in a VM by `sh -c` with streams.
///
/// @param user absent: the image's ordinary user
/// @param isUse whether it is use of the VM as long as it runs, as a command is; else only what is said to it and what it says is
public record NewProgram(
        String script, Optional<String> user, Map<String, String> environment, boolean isUse) {
    public NewProgram {
        environment = Map.copyOf(environment);
    }
}
