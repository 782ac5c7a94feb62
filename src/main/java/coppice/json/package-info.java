/// Our JSON: strict parsing of what strangers send, typed reading with errors that name the field, writing that omits what has
/// no value, and descriptions of shapes that check request bodies and become OpenAPI schemas.
///
/// Jackson's streaming core does the lexing and nothing outside this package sees it. A parsed document is plain Java: a
/// [coppice.json.JsonObject] over maps, lists, strings, numbers and booleans. Start with [coppice.json.Json].
package coppice.json;
