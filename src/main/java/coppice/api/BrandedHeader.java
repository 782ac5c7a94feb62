package coppice.api;

import coppice.base.Code;
import coppice.base.Failure;
import coppice.http.Headers;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/// Header names that have the brand word inside: both the configured word and `svc` are understood.
public record BrandedHeader(String brand) {

    /// `template` has `%s` where the brand word goes. The configured name comes first.
    public List<String> names(String template) {
        return Stream.of(brand, "svc").distinct().map(template::formatted).toList();
    }

    /// The value that is sent under any of these names; one that is blank counts as none. Refuses several as `BAD_REQUEST`.
    public static Optional<String> single(Headers headers, List<String> names) {
        var found = Optional.<String>empty();
        for (var field : headers.fields()) {
            var value = field.value();
            if (value.isBlank() || names.stream().noneMatch(field.name()::equalsIgnoreCase)) {
                continue;
            }
            if (found.isPresent() && !found.get().equals(value)) {
                throw new Failure(
                        Code.BAD_REQUEST,
                        "%s is sent more than once; send it once".formatted(names.getFirst()));
            }
            found = Optional.of(value);
        }
        return found;
    }
}
