// Drives the command lines of both packages: `freestyle` of the newer one, and what the older one has for VMs. Each command is a process of its own.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterwards, baseSnapshot, baseUrl, check, eventually, key, known, packages, runChecks } from "./checks.mjs";

const run = randomBytes(4).toString("hex");
const slug = (word) => `${word}-${run}`;
const small = await baseSnapshot("busybox");

/** A home and working directory of its own: the program keeps its login in the one and reads .env in the other. */
const home = mkdtempSync(join(tmpdir(), "conformance-"));
afterwards(() => rmSync(home, { recursive: true }));
const local = (name) => join(home, name);

const NEW = join(packages, "freestyle/dist/cli/index.js");
const OLD = join(packages, "freestyle-sandboxes/cli.mjs");

/** Runs a program to its end: {code, out, err}. */
function program(file, words, { input = "", env = {} } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [file, ...words], {
      cwd: home,
      env: { PATH: process.env.PATH, HOME: home, NO_COLOR: "1", FREESTYLE_API_KEY: key, FREESTYLE_PROXY: baseUrl, FREESTYLE_API_URL: baseUrl, ...env },
    });
    const said = { out: "", err: "" };
    child.stdout.on("data", (data) => { said.out += data; });
    child.stderr.on("data", (data) => { said.err += data; });
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, ...said }));
    child.stdin.end(input);
  });
}

const cli = (...words) => program(NEW, words);

async function ok(...words) {
  const result = await cli(...words);
  assert.equal(result.code, 0, `${words.join(" ")}: ${result.err}${result.out}`);
  return result;
}

/** What a command answers in JSON. */
const json = async (...words) => JSON.parse((await ok("--output", "json", ...words)).out);

async function fails(pattern, ...words) {
  const result = await cli(...words);
  assert.notEqual(result.code, 0);
  assert.match(result.err + result.out, pattern);
}

// ---- vm

let vm;
afterwards(() => cli("vm", "delete", vm));

check("vm create makes a VM and prints it", async () => {
  const data = await json("vm", "create", "--slug", slug("cli"), "--display-name", "By hand", "--metadata", "a=1", "--metadata", "b=two", "--idle-timeout-seconds", "900", "--no-internet");
  vm = data.id;
  assert.deepEqual([data.slug, data.displayName, data.state, data.idleTimeoutSeconds, data.metadata], [slug("cli"), "By hand", "running", 900, { a: "1", b: "two" }]);
  assert.deepEqual(data.firewallRules, []);
});

check("vm get and vm list show it", async () => {
  const shown = (await ok("vm", "get", slug("cli"))).out;
  for (const word of [vm, slug("cli"), "By hand", "running", "1 vCPU", "900s"]) assert.ok(shown.includes(word), `${word} in ${shown}`);
  const listed = (await ok("vm", "list", "--slug", slug("cli"))).out;
  assert.ok(listed.includes(vm) && listed.includes("1 VM") && listed.includes("1 running"), listed);
  assert.deepEqual((await json("vm", "list", "--state", "running", "--metadata", "b:two", "--slug", slug("cli"))).vms.map((one) => one.id), [vm]);
});

check("vm update changes it, and a slug that is taken is told with its holder", async () => {
  const updated = await json("vm", "update", vm, "--display-name", "Renamed", "--metadata", "a=2", "--no-automatic-restart");
  assert.deepEqual([updated.displayName, updated.metadata, updated.automaticRestart], ["Renamed", { a: "2", b: "two" }, false]);
  await fails(new RegExp(`already used by ${vm}`), "vm", "create", "--slug", slug("cli"));
  const taker = await json("vm", "create", "--slug", slug("cli"), "--replace-slug", "--ephemeral", "--no-ssh");
  assert.deepEqual([taker.slug, taker.autoDeleteSeconds], [slug("cli"), 0]);
  assert.equal(taker.firewallRules.length, 1, "one to the Internet");
  await ok("vm", "delete", taker.id);
  await ok("vm", "update", vm, "--slug", slug("cli"));
});

check("vm exec has the output and the status of the command", async () => {
  const result = await cli("vm", "exec", vm, "--env", "WORD=a b", "--", "sh", "-c", 'echo "$WORD"; echo err >&2; exit 6');
  assert.deepEqual(result, { code: 6, out: "a b\n", err: "err\n" });
  assert.deepEqual(await json("vm", "exec", vm, "--linux-user", "nobody", "--", "id", "-un"), { stdout: "nobody\n", stderr: "", statusCode: 0 });
  assert.equal((await cli("vm", "exec", vm, "--timeout-ms", "500", "--", "sleep", "60")).code, 1);
});

check("vm exec -it and vm ssh run in a terminal and end with the command's status", async () => {
  const terminal = await cli("vm", "exec", "-it", vm, "--", "sh", "-c", "tty; exit 9");
  assert.equal(terminal.code, 9, terminal.err);
  assert.match(terminal.out, /\/dev\/pts\/\d+/);
  const shell = await program(NEW, ["vm", "ssh", vm], { input: "echo in-$((1+1))-shell\nexit 4\n" });
  assert.equal(shell.code, 4, shell.err);
  assert.ok(shell.out.includes("in-2-shell"), shell.out);
  assert.equal((await cli("vm", "ssh", vm, "--exec", "exit 3")).code, 3);
  const made = await cli("vm", "create", "--no-internet", "--", "echo", "created and run");
  assert.ok(made.out.includes("created and run"), made.out + made.err);
  const [id] = /vm-[a-z0-9]{20}/.exec(made.err);
  await ok("vm", "delete", id);
});

check("vm ssh says what to do when there is no such VM, or the key is wrong", async () => {
  await fails(/404[\s\S]*No such VM/, "vm", "ssh", `vm-${"0".repeat(20)}`);
  await fails(/401[\s\S]*API key was rejected/, "vm", "ssh", vm, "--api-key", "wrong");
  await fails(/NOT_FOUND|no VM/, "vm", "get", slug("nobody"));
});

check("vm pause, start and resize print the VM", async () => {
  assert.equal((await json("vm", "pause", vm)).state, "paused");
  assert.equal((await json("vm", "start", vm)).state, "running");
  const { resources } = await json("vm", "get", vm);
  assert.equal((await json("vm", "resize", vm, "--memory", String(resources.memory + 128))).resources.memory, resources.memory + 128);
  assert.ok((await ok("vm", "start", vm)).out.includes("running"));
});

// ---- files

check("vm fs writes, reads, lists and removes files", async () => {
  writeFileSync(local("note.txt"), "from here\n");
  await ok("vm", "fs", "write", vm, "/srv/cli/note.txt", local("note.txt"));
  assert.equal((await ok("vm", "fs", "read", vm, "/srv/cli/note.txt")).out, "from here\n");
  await ok("vm", "fs", "mkdir", vm, "/srv/cli/inner");
  assert.deepEqual(await json("vm", "fs", "ls", vm, "/srv/cli"), [{ name: "inner", kind: "directory" }, { name: "note.txt", kind: "file" }]);
  assert.ok((await ok("vm", "fs", "ls", vm, "/srv/cli")).out.includes("inner/"));
  const stat = await json("vm", "fs", "stat", vm, "/srv/cli/note.txt");
  assert.deepEqual([stat.size, stat.isFile, stat.owner], [10, true, "root"]);
  assert.ok((await ok("vm", "fs", "stat", vm, "/srv/cli/note.txt")).out.includes("root:root"));
  await ok("vm", "fs", "rm", vm, "/srv/cli/inner");
  await fails(/FILE_NOT_FOUND|no such|not found|there is no/i, "vm", "fs", "read", vm, "/srv/cli/inner");
});

check("vm scp copies files and trees both ways", async () => {
  mkdirSync(local("tree/sub/empty"), { recursive: true });
  const large = randomBytes(9 * 1024 * 1024);
  writeFileSync(local("tree/large.bin"), large);
  writeFileSync(local("tree/sub/small.txt"), "small");
  const there = await ok("vm", "scp", local("tree"), `${vm}:/srv/tree`);
  assert.match(there.out, /2 files/);
  await ok("vm", "scp", "-r", `${slug("cli")}:/srv/tree`, local("back"));
  assert.ok(readFileSync(local("back/large.bin")).equals(large));
  assert.equal(readFileSync(local("back/sub/small.txt"), "utf8"), "small");
  assert.equal((await ok("vm", "exec", vm, "--", "ls", "-d", "/srv/tree/sub/empty")).out, "/srv/tree/sub/empty\n");
  await ok("vm", "scp", `${vm}:/srv/tree/sub/small.txt`, home);
  assert.equal(readFileSync(local("small.txt"), "utf8"), "small");
});

// ---- snapshots

check("snapshot create takes a VM, and builds one of a script", async () => {
  const taken = await json("snapshot", "create", vm, "--slug", slug("shot"), "--display-name", "Shot");
  assert.deepEqual([taken.sourceVmId, taken.snapshot.slug, taken.snapshot.displayName], [vm, slug("shot"), "Shot"]);
  assert.equal((await json("snapshot", "get", slug("shot"))).id, taken.snapshotId);
  assert.ok((await ok("snapshot", "list", "--source-vm-id", vm)).out.includes(taken.snapshotId));
  writeFileSync(local("setup.sh"), "echo set-up; echo built >/etc/built\n");
  const built = await cli("snapshot", "create", "--script", local("setup.sh"), "--base", slug("shot"), "--slug", slug("shot"), "--replace-slug", "--output", "json");
  assert.equal(built.code, 0, built.err);
  const { snapshotId, snapshot } = JSON.parse(built.out);
  assert.equal(snapshot.slug, slug("shot"));
  assert.ok(built.err.includes("set-up") && /Deleted vm-/.test(built.err), built.err);
  const of = await json("vm", "create", "--snapshot-id", slug("shot"), "--no-internet");
  assert.equal((await ok("vm", "exec", of.id, "--", "cat", "/etc/built")).out, "built\n");
  await ok("vm", "delete", of.id);
  assert.equal((await json("snapshot", "update", snapshotId, "--display-name", "Built")).displayName, "Built");
  await ok("snapshot", "delete", snapshotId);
  await ok("vm", "snapshot", "delete", taken.snapshotId);
  assert.equal((await json("vm", "snapshot", "list", "--source-vm-id", vm)).totalCount, 0);
});

check("a setup that fails takes no snapshot", async () => {
  writeFileSync(local("failing.sh"), "exit 5\n");
  const failed = await cli("snapshot", "create", "--script", local("failing.sh"));
  assert.equal(failed.code, 5, failed.err);
  assert.match(failed.err, /no snapshot taken/);
});

// ---- networks

check("vpc, tunnels and firewall make, show, change and delete", async () => {
  const vpc = await json("vpc", "create", "--slug", slug("net"), "--cidr", "10.78.5.0/24");
  assert.deepEqual([vpc.slug, vpc.cidr], [slug("net"), "10.78.5.0/24"]);
  assert.ok((await ok("vpc", "list")).out.includes("10.78.5.0/24"));
  assert.ok((await ok("vpc", "get", slug("net"))).out.includes(vpc.id));
  assert.equal((await json("vpc", "update", vpc.id, "--display-name", "Net")).displayName, "Net");
  const member = await json("vm", "create", "--vpc", slug("net"), "--ipv4", "10.78.5.7", "--slug", slug("member"));
  assert.deepEqual([member.networks[0].vpc, member.networks[0].ipv4], [vpc.id, "10.78.5.7"]);
  assert.ok((await ok("vm", "get", member.id)).out.includes("10.78.5.7"));

  const rule = await json("firewall", "create", "--from", "public", "--to", `vm=${slug("member")},port=443,proto=tcp`, "--description", "web");
  assert.deepEqual([rule.source, rule.destination, rule.description], [{ public: true }, { vmId: member.id, port: 443, protocol: "tcp" }, "web"]);
  assert.equal((await json("firewall", "list", "--vm", member.id)).totalCount, 2);
  assert.ok((await ok("firewall", "list", "--vm", member.id)).out.includes("443"));
  assert.ok((await ok("firewall", "get", rule.id)).out.includes("web"));
  await ok("firewall", "delete", rule.id);

  const tunnel = await json("tunnels", "create", "--slug", slug("tun"));
  const attached = await json("tunnels", "attach", slug("tun"), slug("net"), "--ipv4", "10.78.5.40", "--remote-cidr", "198.18.4.0/24");
  assert.deepEqual([attached.attachments[0].address, attached.attachments[0].remoteCidrs], ["10.78.5.40", ["198.18.4.0/24"]]);
  assert.ok((await ok("vpc", "tunnels", vpc.id)).out.includes(tunnel.id));
  assert.ok((await ok("tunnels", "list")).out.includes("10.78.5.40"));
  assert.ok((await ok("tunnels", "get", tunnel.id)).out.includes("[Interface]"));
  assert.notEqual((await json("tunnels", "rotate-key", tunnel.id)).clientPublicKey, tunnel.clientPublicKey);
  assert.equal((await json("tunnels", "update", tunnel.id, "--display-name", "Tun")).displayName, "Tun");
  assert.deepEqual((await json("tunnels", "detach", tunnel.id, vpc.id)).attachments, []);
  await ok("tunnels", "delete", tunnel.id);
  await fails(/CONFLICT|in use|still/i, "vpc", "delete", vpc.id);
  await ok("vm", "delete", member.id);
  await ok("vpc", "delete", vpc.id);
});

// ---- identities

check("identity makes identities, tokens and permissions", async () => {
  const { id } = await json("identity", "create");
  assert.ok((await ok("identity", "list")).out.includes(id));
  assert.equal((await json("identity", "get", id)).managed, false);
  const token = await json("identity", "token", "create", id);
  assert.match(token.token, /^sit_/);
  assert.ok((await ok("identity", "token", "list", id)).out.includes(token.id));
  assert.deepEqual((await json("identity", "permission", "grant", id, vm, "--allowed-linux-user", "nobody")).allowedLinuxUsers, ["nobody"]);
  assert.ok((await ok("identity", "permission", "get", id, vm)).out.includes("nobody"));
  assert.equal((await json("identity", "permission", "update", id, vm)).allowedLinuxUsers, null);
  assert.ok((await ok("identity", "permission", "list", id)).out.includes(vm));
  await ok("identity", "permission", "revoke", id, vm);
  assert.deepEqual(await json("identity", "permission", "list", id), []);
  await ok("identity", "token", "revoke", id, token.id);
  await ok("identity", "delete", id);
  await fails(/IDENTITY_NOT_FOUND|no identity/i, "identity", "get", id);
});

// ---- the older command line

check("the older command line makes, lists and deletes VMs and runs commands in them", async () => {
  const made = await program(OLD, ["vm", "create", "--snapshot", small, "--exec", "echo by-the-older; exit 8"]);
  assert.equal(made.code, 0, made.err);
  assert.ok(made.out.includes("by-the-older") && made.out.includes("Exec exit code: 8"), made.out);
  const [vmId] = /vm-[a-z0-9]{20}/.exec(made.out);
  const list = await program(OLD, ["vm", "list"]);
  assert.ok(list.out.includes(vmId) && list.out.includes("running"), list.out + list.err);
  const listed = JSON.parse((await program(OLD, ["vm", "list", "--json"])).out);
  assert.equal(listed.vms.find((one) => one.id === vmId).state, "running");
  const executed = await program(OLD, ["vm", "exec", vmId, "echo again; exit 2"]);
  assert.ok(executed.out.includes("again") && executed.out.includes("Exit code: 2"), executed.out + executed.err);
  const deleted = await program(OLD, ["vm", "delete", vmId]);
  assert.equal(deleted.code, 0, deleted.err);
  const gone = await program(OLD, ["vm", "exec", vmId, "true"]);
  assert.ok(gone.code !== 0 && gone.err.includes("VM_NOT_FOUND"), gone.err);
});

known(
  "the older command line makes a VM without a snapshot",
  "It always sends a template then, and templates are not there yet.",
  /UNAVAILABLE: template builds/,
  async () => {
    const made = await program(OLD, ["vm", "create", "--delete"]);
    assert.equal(made.code, 0, made.err);
  },
);

check("vm delete says so, and the VM is gone", async () => {
  assert.ok((await ok("vm", "delete", slug("cli"))).out.includes("deleted"));
  await fails(/NOT_FOUND|no VM/, "vm", "get", vm);
  await eventually("no VM of this run", async () => (await json("vm", "list", "--slug", slug("cli"))).totalCount === 0);
});

await runChecks();
