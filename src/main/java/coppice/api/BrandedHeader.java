package coppice.api;

import java.util.List;
import java.util.stream.Stream;

/// Header names that have the brand word inside: both the configured word and `svc` are understood.
public record BrandedHeader(String brand) {

    /// `template` has `%s` where the brand word goes. The configured name comes first.
    public List<String> names(String template) {
        return Stream.of(brand, "svc").distinct().map(template::formatted).toList();
    }
}
