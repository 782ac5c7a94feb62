/// From an HTTP request to an operation and back: routing, credentials, body checks, errors, path families, and the OpenAPI
/// document. What the operations are is not known here: each is a [coppice.api.Route] handed in by the package of its family.
///
/// The order of checks is the contract's: route, credential, body syntax and types, then the handler, which looks up what the
/// path names before it judges the body's values. Start with [coppice.api.Api] and [coppice.api.Route].
package coppice.api;
