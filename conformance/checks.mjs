// A runner of checks in their order, for the scripts beside it. A check is a sentence and a function that asserts. One that is `known` fails
// today for a reason that is written with it: it is reported and does not fail the script, but fails it as soon as it passes, or fails otherwise.
//
// Environment: COPPICE_URL, the base URL of the server; COPPICE_KEY, an API key of an account; COPPICE_CONFORMANCE_PACKAGES, the directory in
// whose node_modules the packages are; COPPICE_CONFORMANCE_ONLY, words: only checks whose sentence holds one of them are run, for work on one.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const PATIENCE_MS = 120_000;

export const baseUrl = required("COPPICE_URL").replace(/\/+$/, "");
export const key = required("COPPICE_KEY");
export const packages = join(required("COPPICE_CONFORMANCE_PACKAGES"), "node_modules");

/** Every request that the packages made by the runtime's fetch: {method, path, status}. They call it as always; it is only listened to. */
export const requests = [];

const checks = [];
const cleaners = [];

function required(name) {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set`);
  return value;
}

const fetchOfTheRuntime = globalThis.fetch;
globalThis.fetch = async (input, init) => {
  const url = new URL(typeof input === "string" ? input : (input.url ?? input.href));
  const request = { method: init?.method ?? input.method ?? "GET", path: url.pathname, status: 0 };
  if (url.href.startsWith(baseUrl)) requests.push(request);
  const response = await fetchOfTheRuntime(input, init);
  request.status = response.status;
  return response;
};

/** The module that `import` of this package gives, from where it is installed. */
export function load(name) {
  const about = JSON.parse(readFileSync(join(packages, name, "package.json"), "utf8"));
  return import(pathToFileURL(join(packages, name, about.module ?? about.main)).href);
}

export function check(sentence, run) {
  checks.push({ sentence, run });
}

/** A check that fails today. `finding` says what the server does and what the client needs; `expected` is how its error begins or what it holds. */
export function known(sentence, finding, expected, run) {
  checks.push({ sentence, run, finding, expected });
}

/** Is run at the end, whatever happened; what it throws is not reported. */
export function afterwards(run) {
  cleaners.unshift(run);
}

/** Asks again until `probe` gives a value that is not false or undefined. */
export async function eventually(what, probe, patienceMs = 30_000) {
  const end = Date.now() + patienceMs;
  for (;;) {
    const found = await probe();
    if (found) return found;
    if (Date.now() > end) throw new Error(`not in time: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** The id of a base snapshot of the platform, whose owner word is the brand word. */
export async function baseSnapshot(word) {
  const response = await fetchOfTheRuntime(`${baseUrl}/v5/snapshots/freestyle%2F${word}`, { headers: { Authorization: `Bearer ${key}` } });
  if (!response.ok) throw new Error(`the server has no base snapshot ${word}`);
  return (await response.json()).id;
}

/** The error that `run` must end with. */
export async function failure(run) {
  let value;
  try {
    value = await run();
  } catch (error) {
    return error;
  }
  throw new Error(`did not fail, but gave ${JSON.stringify(value)}`);
}

function within(promise, patienceMs) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not done after ${patienceMs / 1000} s`)), patienceMs);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

async function runOne({ sentence, run, finding, expected }) {
  const start = Date.now();
  let error;
  try {
    await within(run(), PATIENCE_MS);
  } catch (thrown) {
    error = thrown;
  }
  const isKnown = finding !== undefined && error !== undefined && expected.test(`${error.code ?? ""} ${error.message}`);
  const outcome = isKnown ? "known" : finding === undefined && !error ? "ok" : "FAILED";
  console.log(`${outcome.padEnd(7)} ${((Date.now() - start) / 1000).toFixed(1).padStart(5)} s  ${sentence}`);
  if (outcome === "known") console.log(`        ${finding}\n        (${String(error.message).split("\n")[0]})`);
  if (outcome === "FAILED") {
    console.log(error ? withoutTheRunner(error) : "it passes: it is no longer a known failure, make it an ordinary check");
  }
  return outcome;
}

function withoutTheRunner(error) {
  const lines = String(error.stack ?? error).split("\n");
  return lines.filter((line) => !/^\s+at /.test(line) || (line.includes("conformance") && !line.includes("checks.mjs"))).join("\n");
}

/** Runs all checks and ends the process: with 1 when one failed. */
export async function runChecks() {
  const only = (process.env.COPPICE_CONFORMANCE_ONLY ?? "").split(/\s+/).filter(Boolean);
  const counts = { ok: 0, known: 0, FAILED: 0 };
  for (const one of checks) {
    if (only.length === 0 || only.some((word) => one.sentence.includes(word))) counts[await runOne(one)] += 1;
  }
  for (const clean of cleaners) {
    try {
      await within(clean(), PATIENCE_MS);
    } catch {
      // what a check that failed has not made, or one that passed has deleted
    }
  }
  console.log(`${counts.ok} passed, ${counts.known} known failures, ${counts.FAILED} failed`);
  process.exit(counts.FAILED > 0 || counts.ok === 0 ? 1 : 0);
}
