package coppice.api;

/// A route at one of the places where it is served. `template` includes the family's prefix.
record Served(Route route, Family family, PathTemplate template) {

    static Served of(Route route, Family family) {
        return new Served(route, family, route.path().under(family.prefix()));
    }

    /// Unique among all: the alias of `startVm` is `startVmUnversioned`.
    String operationId() {
        var id = route.description().id();
        return family == Family.UNVERSIONED ? id + "Unversioned" : id;
    }
}
