// Every route that the two packages can call, read from their code as it is installed, and what of it the server does not have.
//
// The reading is strict: a call or a path in their code that it does not understand is an error, so that nothing is left out unseen. Calls to
// other origins (sign-in, dashboard) are left out: sign-in.mjs drives those that this server has.
//
//   node conformance/routes.mjs           compares with pending.txt; the environment is that of checks.mjs, without a key
//   node conformance/routes.mjs --write   writes pending.txt

import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const PENDING = fileURLToPath(new URL("pending.txt", import.meta.url));
const NEW = "freestyle";
const OLD = "freestyle-sandboxes";

const VERBS = {
  get: "GET", getRaw: "GET", getBytes: "GET", post: "POST", postRaw: "POST", put: "PUT", putBytes: "PUT", putEmpty: "PUT", patch: "PATCH", delete: "DELETE",
};
const VERB = "(" + Object.keys(VERBS).join("|") + ")";

/** Paths of the older package that stand at no call of a verb: it passes them to a helper or to fetch. */
const OLD_ELSEWHERE = {
  "/v1/vms": "POST",
  "/v1/vms/snapshots": "POST",
  "/v1/vms/snapshots/{snapshot_id}": "DELETE",
  "/v1/vms/{vmId}/watch-files": "POST",
  "/auth/v1/whoami": "GET",
  "/auth/v1/background-requests/{requestId}": "GET",
  "/observability/v1/logs": "GET",
  "/web/v1/deployments/{deployment_id}/fetch": "GET",
};

function withoutComments(code) {
  return code.replace(/\/\*[\s\S]*?\*\//g, "").replace(/^\s*\/\/.*$/gm, "");
}

function filesUnder(directory) {
  return readdirSync(directory, { recursive: true })
    .map((name) => join(directory, name))
    .filter((name) => /\.m?js$/.test(name))
    .sort();
}

/** `/v5/vms/${segment(id)}` becomes `/v5/vms/{id}`. */
function named(template) {
  return template.replace(/\$\{([^}]*)\}/g, (_, expression) => `{${/(\w+)\)*$/.exec(expression.trim())[1]}}`);
}

/** The newer package builds paths from functions such as vmPath(id) and from a base path that a class has or is given. */
class NewPackage {
  constructor(directory) {
    this.files = filesUnder(join(directory, "dist")).map((name) => ({ name, code: withoutComments(readFileSync(name, "utf8")) }));
    this.all = this.files.map((file) => file.code).join("\n");
    this.functions = new Map(
      [...this.all.matchAll(/function (\w+Path)\(\w+\) \{\s*return `([^`]*)`;/g)].map((match) => [match[1], match[2]]),
    );
    this.classes = [...this.all.matchAll(/^(?:export )?class (\w+)[^{]*\{[\s\S]*?^\}/gm)].map((match) => ({ name: match[1], code: match[0] }));
  }

  /** What this.basePath is in a class: what it sets itself, or what the class that makes it gives it. */
  basePath(name) {
    const code = this.classes.find((one) => one.name === name).code;
    const own = /this\.basePath = (\w+Path\(\w+\))/.exec(code);
    if (own) return this.expanded(own[1], name);
    const maker = this.classes.find((one) => new RegExp(`new ${name}\\(\\w+, this\\.basePath\\)`).test(one.code));
    if (!maker) throw new Error(`${NEW}: nothing gives ${name} its base path`);
    return this.basePath(maker.name);
  }

  /** The template that an expression gives: a literal, a function of a path, a base path, or a constant of the class. */
  expanded(expression, className) {
    if (expression === "this.basePath") return this.basePath(className);
    const literal = /^["`](.*)["`]$/.exec(expression);
    if (literal) {
      return literal[1].replace(/\$\{(this\.basePath|\w+Path\(\w+\)|\w+Path)\}/g, (_, inner) => this.expanded(inner, className));
    }
    const call = /^(\w+Path)\((\w+)\)$/.exec(expression);
    if (call && this.functions.has(call[1])) return this.functions.get(call[1]).replace(/\(\w+\)/, `(${call[2]})`);
    const constant = new RegExp(`const ${expression} = (\`[^\`]*\`)`).exec(this.classes.find((one) => one.name === className).code);
    if (constant) return this.expanded(constant[1], className);
    throw new Error(`${NEW}: ${className} calls what this does not understand: ${expression}`);
  }

  routes() {
    const found = [];
    for (const { name, code } of this.classes) {
      const calls = [...code.matchAll(new RegExp(`client\\s*\\.${VERB}\\(\\s*(\`[^\`]*\`|"[^"]*"|\\w+Path\\(\\w+\\)|[\\w.]+)`, "g"))];
      if (calls.length !== [...code.matchAll(new RegExp(`client\\s*\\.${VERB}\\(`, "g"))].length) {
        throw new Error(`${NEW}: ${name} has a call that this does not understand`);
      }
      for (const call of calls) found.push([VERBS[call[1]], this.expanded(call[2], name)]);
      for (const call of code.matchAll(/wsUrl\(this\.client, (`[^`]*`)/g)) found.push(["GET", this.expanded(call[1], name)]);
      for (const call of code.matchAll(/`(\/v5\/background-requests\/[^`]*)`/g)) found.push(["GET", call[1]]);
    }
    for (const call of this.all.matchAll(/fetch\(`\$\{baseUrl\}(\/[^`]*)`(?:, \{\s*method: "(\w+)")?/g)) found.push([call[2] ?? "GET", call[1]]);
    this.refuseUnread(found.map(([, template]) => template));
    return found.map(([method, template]) => ({ method, path: named(template), of: NEW }));
  }

  /** Every path in the code must be one that was found, or the beginning of one. */
  refuseUnread(templates) {
    for (const [, literal] of this.all.matchAll(/["`](?:\$\{baseUrl\})?(\/v5\/[^"`]*)["`]/g)) {
      const isRead = templates.some((template) => named(template).startsWith(named(literal))) || [...this.functions.values()].includes(literal);
      if (!isRead) throw new Error(`${NEW}: the path ${literal} was not understood`);
    }
    for (const { name, code } of this.files) {
      const outside = code.replace(/^(?:export )?class \w+[^{]*\{[\s\S]*?^\}/gm, "");
      if (new RegExp(`client\\s*\\.${VERB}\\(`).test(outside)) throw new Error(`${NEW}: ${name} calls outside of a class`);
    }
  }
}

function oldRoutes(directory) {
  const code = ["index.mjs", "cli.mjs"].map((name) => withoutComments(readFileSync(join(directory, name), "utf8"))).join("\n");
  const found = new Set();
  const isCalled = new Set();
  const calls = [...code.matchAll(new RegExp(`[cC]lient\\s*\\.${VERB}\\(\\s*(?:"(/[^"]*)"|\`(/[^\`]*)\`|\\w+,)`, "g"))];
  if (calls.length !== [...code.matchAll(new RegExp(`[cC]lient\\s*\\.${VERB}\\(`, "g"))].length) {
    throw new Error(`${OLD}: it has a call that this does not understand`);
  }
  for (const call of calls) {
    const path = call[2] ?? call[3];
    if (path === undefined) continue; // a helper's variable; its literal is found below
    found.add(`${VERBS[call[1]]} ${named(path)}`);
    isCalled.add(named(path));
  }
  const literals = new Set([...code.matchAll(/["`](\/(?:[a-z]+\/)?v\d+\/[^"`\s]*)["`]/g)].map((match) => named(match[1])));
  for (const [path, method] of Object.entries(OLD_ELSEWHERE)) {
    if (!literals.has(path)) throw new Error(`${OLD}: the path ${path} is no longer in it`);
    found.add(`${method} ${path}`);
    isCalled.add(path);
  }
  for (const literal of literals) {
    if (!isCalled.has(literal)) throw new Error(`${OLD}: the path ${literal} was not understood`);
  }
  return [...found].map((line) => ({ method: line.split(" ")[0], path: line.split(" ")[1], of: OLD }));
}

/** What two names of one route have in common: parameters have no name. */
export function shape(method, path) {
  return `${method} ${path.replace(/\{[^}]*\}/g, "{}")}`;
}

/** Every route that the packages can call: {method, path, of}, one for each package and shape. */
export function callable(packages) {
  const byShape = new Map();
  for (const route of [...new NewPackage(join(packages, NEW)).routes(), ...oldRoutes(join(packages, OLD))]) {
    const id = `${shape(route.method, route.path)} ${route.of}`;
    if (!byShape.has(id)) byShape.set(id, route);
  }
  return [...byShape.values()];
}

/** The shapes of the routes that a server has. */
export async function served(baseUrl) {
  const response = await fetch(`${baseUrl}/openapi.json`);
  if (!response.ok) throw new Error(`${baseUrl}/openapi.json: status ${response.status}`);
  const { paths } = await response.json();
  return new Set(
    Object.entries(paths).flatMap(([path, methods]) => Object.keys(methods).map((method) => shape(method.toUpperCase(), path))),
  );
}

/** The lines of pending.txt as they have to be for this server. */
export function pendingLines(routes, shapes) {
  return routes
    .filter((route) => !shapes.has(shape(route.method, route.path)))
    .map((route) => `${route.method} ${route.path}  ${route.of}`)
    .sort();
}

/** Throws, telling which lines are wrong, when pending.txt is not what the server and the packages say. */
export function comparePending(lines) {
  const written = readFileSync(PENDING, "utf8").split("\n").filter(Boolean);
  const missing = lines.filter((line) => !written.includes(line)).map((line) => `missing: ${line}`);
  const wrong = written.filter((line) => !lines.includes(line)).map((line) => `served now, or called no longer: ${line}`);
  const isSorted = written.join("\n") === [...written].sort().join("\n");
  if (missing.length + wrong.length > 0 || !isSorted) {
    throw new Error(["conformance/pending.txt is not exact; write it anew with routes.mjs --write", ...missing, ...wrong].join("\n"));
  }
}

/** The served routes of a package that none of these requests asked for. */
export function undriven(routes, shapes, requests, of) {
  const asPattern = (path) => new RegExp("^" + path.replace(/\{[^}]*\}/g, "[^/]+") + "$");
  return routes
    .filter((route) => route.of === of && shapes.has(shape(route.method, route.path)))
    .filter((route) => !requests.some((request) => request.method === route.method && asPattern(route.path).test(request.path)))
    .map((route) => `${route.method} ${route.path}`);
}

async function main() {
  const packages = join(process.env.COPPICE_CONFORMANCE_PACKAGES, "node_modules");
  const lines = pendingLines(callable(packages), await served(process.env.COPPICE_URL));
  if (process.argv.includes("--write")) writeFileSync(PENDING, lines.join("\n") + "\n");
  comparePending(lines);
  console.log(`${lines.length} routes that the packages can call are pending`);
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) await main();
