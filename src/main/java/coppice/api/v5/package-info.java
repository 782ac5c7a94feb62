/// The v5 shapes, served under `/v5` and without it: fields into commands, results into fields. Knows every field name and no behaviour.
/// Start with [coppice.api.v5.VmRoutes].
package coppice.api.v5;
