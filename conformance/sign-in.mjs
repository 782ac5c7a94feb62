// Drives what the command line of the newer package does with a login: both origins that it knows for that are this server. The page that it
// would open in a browser is fetched and its form sent, as a browser would.
//
// Environment, beside that of checks.mjs: COPPICE_EMAIL and COPPICE_PASSWORD of a user that is the owner of the account `main`, whose key is
// COPPICE_KEY, and a member of the account `second`, in no other.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterwards, baseUrl, check, key, packages, runChecks } from "./checks.mjs";

const { COPPICE_EMAIL: email, COPPICE_PASSWORD: password } = process.env;
const PROGRAM = join(packages, "freestyle/dist/cli/index.js");

const home = mkdtempSync(join(tmpdir(), "conformance-"));
afterwards(() => rmSync(home, { recursive: true }));

/** Runs the program to its end: {code, out, err}. `heard` is told what it says on standard error. */
function program(words, { env = {}, heard = () => {} } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [PROGRAM, ...words], {
      cwd: home,
      env: { PATH: process.env.PATH, HOME: home, NO_COLOR: "1", FREESTYLE_PROXY: baseUrl, FREESTYLE_STACK_API_URL: baseUrl, FREESTYLE_DASHBOARD: baseUrl, ...env },
    });
    const said = { out: "", err: "" };
    child.stdout.on("data", (data) => { said.out += data; });
    child.stderr.on("data", (data) => { said.err += data; heard(said.err); });
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, ...said }));
    child.stdin.end();
  });
}

const cli = (...words) => program(words);

async function ok(...words) {
  const result = await cli(...words);
  assert.equal(result.code, 0, `${words.join(" ")}: ${result.err}${result.out}`);
  return result;
}

const json = async (...words) => JSON.parse((await ok("--output", "json", ...words)).out);

async function fails(pattern, ...words) {
  const result = await cli(...words);
  assert.notEqual(result.code, 0);
  assert.match(result.err + result.out, pattern);
}

const config = () => JSON.parse(readFileSync(join(home, ".freestyle/config.json"), "utf8"));

/** What a person does in a browser: opens the page, and sends its form with this password. */
async function confirm(url, typed) {
  const page = await fetch(url);
  const text = await page.text();
  assert.equal(page.status, 200, text);
  assert.match(page.headers.get("content-type"), /^text\/html/);
  const fields = [...text.matchAll(/<input [^>]*name="(\w+)"/g)].map((field) => field[1]);
  assert.deepEqual(fields, ["email", "password"]);
  assert.match(text, /<form method="post">/);
  return fetch(url, { method: "POST", body: new URLSearchParams({ email, password: typed }) });
}

/** Logs in; `inBrowser` gets the address that the program shows. */
async function login(inBrowser, ...words) {
  let opened;
  const result = await program(["login", "--no-browser", ...words], {
    heard: (said) => {
      const url = /^(\S+\/handler\/cli-auth-confirm\?login_code=\w+)$/m.exec(said);
      if (url) opened ??= inBrowser(url[1]);
    },
  });
  await opened;
  return result;
}

check("login waits until the page is confirmed, and with several teams one has to be named", async () => {
  const statuses = [];
  const result = await login(async (url) => {
    assert.ok(url.startsWith(`${baseUrl}/handler/cli-auth-confirm`), url);
    for (const typed of ["not the password", password]) statuses.push((await confirm(url, typed)).status);
  });
  assert.deepEqual(statuses, [403, 200]);
  assert.notEqual(result.code, 0);
  assert.match(result.err, /Pass --team/);
  assert.ok(result.err.includes("main") && result.err.includes("second"), result.err);
});

let main;
let second;

check("login with a team keeps the login in a file", async () => {
  const result = await login((url) => confirm(url, password), "--team", "main");
  assert.equal(result.code, 0, result.err);
  assert.ok(result.out.includes(`Logged in as ${email}`) && result.out.includes("Active team: main"), result.out);
  const kept = config();
  [main, second] = ["main", "second"].map((name) => kept.teams.find((team) => team.name === name));
  assert.deepEqual([kept.user.email, kept.activeTeamId], [email, main.teamId]);
  assert.deepEqual([main.role, second.role], ["owner", "member"]);
  assert.match(kept.refreshToken, /^srt_/);
  assert.equal(statSync(join(home, ".freestyle/config.json")).mode & 0o777, 0o600);
});

check("whoami and team tell who and which", async () => {
  const who = await json("whoami");
  assert.deepEqual([who.credentialSource, who.user.email, who.team.teamId], ["login", email, main.teamId]);
  const listed = await json("team", "list");
  assert.deepEqual(listed.teams.map((team) => team.name), ["main", "second"]);
  assert.equal(listed.activeTeamId, main.teamId);
  assert.ok((await ok("team", "list")).out.includes(main.accountId));
  assert.ok((await ok("team", "current")).out.includes(main.teamId));
  await ok("team", "use", "second");
  assert.equal((await json("team", "current")).teamId, second.teamId);
  await ok("team", "use", main.accountId);
  assert.equal((await json("team", "current")).teamId, main.teamId);
  await fails(/No accessible team matches/, "team", "use", "nobodys");
});

let vm;
afterwards(() => cli("vm", "delete", vm));

check("a login makes, lists and uses VMs of the active team, and of no other", async () => {
  vm = (await json("vm", "create", "--no-internet")).id;
  assert.ok((await ok("vm", "list")).out.includes(vm));
  assert.deepEqual(await cli("vm", "exec", vm, "--", "echo", "hello"), { code: 0, out: "hello\n", err: "" });
  const terminal = await cli("vm", "exec", "-it", vm, "--", "sh", "-c", "tty; exit 9");
  assert.equal(terminal.code, 9, terminal.err);
  assert.equal((await json("vm", "list", "--team", "second")).totalCount, 0);
  await fails(/NOT_FOUND|no VM/, "vm", "get", vm, "--team", "second");
  const asKey = await fetch(`${baseUrl}/v5/vms/${vm}`, { headers: { Authorization: `Bearer ${key}` } });
  assert.equal(asKey.status, 200, "the account is the one of the key");
});

check("tokens makes, lists and revokes API keys of the team", async () => {
  const made = await json("tokens", "create", "laptop");
  assert.deepEqual([made.accountId, made.teamId, made.teamName], [main.accountId, main.teamId, "main"]);
  assert.ok((await ok("tokens", "create", "phone")).out.includes("export FREESTYLE_API_KEY="));
  const [keyId] = made.token.split("-");
  const { tokens } = await json("tokens", "list");
  const one = tokens.find((token) => token.keyId === keyId);
  assert.equal(one.name, "laptop");
  assert.ok(Math.abs(Date.now() - one.createdAt) < 600_000, `${one.createdAt} is in milliseconds`);
  const rows = (await ok("tokens", "list")).out;
  assert.ok(rows.includes(keyId) && rows.includes("phone"), rows);
  const withKey = (...words) => program(words, { env: { FREESTYLE_API_KEY: made.token } });
  assert.ok((await withKey("vm", "list")).out.includes(vm));
  assert.match((await withKey("tokens", "list")).err, /not an API key/);
  assert.equal((await json("tokens", "list", "--team", "second")).tokens.some((token) => token.keyId === keyId), false);
  await fails(/no API key/, "tokens", "revoke", keyId, "--team", "second");
  assert.ok((await ok("tokens", "revoke", keyId)).out.includes(keyId));
  assert.equal((await json("tokens", "list")).tokens.some((token) => token.keyId === keyId), false);
  assert.notEqual((await withKey("vm", "list")).code, 0);
});

check("many programs at once share one login", async () => {
  const all = await Promise.all([1, 2, 3, 4].map(() => cli("vm", "list")));
  for (const one of all) assert.ok(one.code === 0 && one.out.includes(vm), one.err);
  assert.ok((await ok("vm", "list")).out.includes(vm));
});

check("a refresh token from the environment does as well, and a wrong one is said to have expired", async () => {
  const { refreshToken } = config();
  const given = (token) => program(["team", "list"], { env: { FREESTYLE_STACK_REFRESH_TOKEN: token } });
  assert.equal((await given(refreshToken)).code, 0);
  assert.match((await given("srt_wrong")).err, /login expired/);
});

check("after logout there is no login, and no anonymous account", async () => {
  await ok("vm", "delete", vm);
  await ok("logout");
  await fails(/Not logged in/, "whoami");
  await fails(/Not logged in/, "team", "list");
  await fails(/HTTP 404/, "vm", "list");
});

await runChecks();
