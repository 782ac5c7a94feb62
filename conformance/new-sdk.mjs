// Drives everything that the newer package (`freestyle`) can do and the server has, through the package.

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { afterwards, baseUrl, check, eventually, failure, key, known, load, packages, requests, runChecks } from "./checks.mjs";
import { callable, comparePending, pendingLines, served, undriven } from "./routes.mjs";

const { Freestyle, FreestyleApiError } = await load("freestyle");
const account = new Freestyle({ baseUrl, apiKey: key });

/** Names of this run, so that a second run on one server does not meet the first one's. */
const run = randomBytes(4).toString("hex");
const slug = (word) => `${word}-${run}`;
const nothing = { firewall: { rules: [] } };

const ID = { vm: /^vm-[a-z0-9]{20}$/, snapshot: /^sh-[a-z0-9]{20}$/, vpc: /^vpc-[a-z0-9]{20}$/, tunnel: /^tun-[a-z0-9]{20}$/, rule: /^fw-[a-z0-9]{20}$/ };
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const PUBLIC_KEY = /^[A-Za-z0-9+/]{43}=$/;

/** The error of the package, with this status and code. */
async function refused(status, code, attempt) {
  const error = await failure(attempt);
  assert.ok(error instanceof FreestyleApiError, String(error.stack));
  assert.deepEqual([error.status, error.code], [status, code], error.message);
  assert.ok(error.message.length > 0 && !error.message.startsWith(code));
  return error;
}

function isVm(data, state) {
  assert.match(data.id, ID.vm);
  assert.equal(data.state, state);
  assert.match(data.createdAt, TIME);
  assert.match(data.updatedAt, TIME);
  assert.deepEqual(Object.keys(data.resources).sort(), ["cpu", "memory", "storage"]);
  assert.ok(Array.isArray(data.vpcs) && Array.isArray(data.networks));
  assert.deepEqual(data.networks, data.vpcs);
  assert.equal(typeof data.metadata, "object");
  assert.equal(typeof data.automaticRestart, "boolean");
  assert.equal(typeof data.autoDeleteFromPlan, "boolean");
  assert.equal(typeof data.totalRunSeconds, "number");
  assert.ok(!Object.values(data).includes(null), "a field without a value is left out");
}

const backgroundPolls = () => requests.filter((request) => request.path.includes("/background-requests/"));

// ---- VMs

let vm;
afterwards(() => vm.delete());

check("a VM is created, with its slug, name, timer and metadata", async () => {
  const created = await account.vms.create({
    ...nothing, slug: slug("main"), displayName: "The main one", idleTimeoutSeconds: 3600, metadata: { suite: run, part: "main" },
  });
  vm = created.vm;
  isVm(created.data, "running");
  assert.equal(created.vmId, created.data.id);
  assert.deepEqual([created.data.slug, created.data.displayName, created.data.idleTimeoutSeconds], [slug("main"), "The main one", 3600]);
  assert.deepEqual(created.data.metadata, { suite: run, part: "main" });
  assert.deepEqual([created.firewallRules, created.tlsRules], [[], []]);
  assert.match(created.data.snapshotId, ID.snapshot);
});

check("a VM is found by its id and by its slug", async () => {
  const byId = await account.vms.get(vm.id);
  isVm(byId, "running");
  assert.equal((await account.vms.get(slug("main"))).id, vm.id);
  assert.equal((await account.vms.ref(slug("main")).data()).id, vm.id);
});

check("VMs are listed, counted and filtered", async () => {
  const all = await account.vms.list();
  assert.ok(all.vms.some((one) => one.id === vm.id));
  const counted = all.runningCount + all.startingCount + all.pausingCount + all.pausedCount + all.stoppedCount;
  assert.equal(counted, all.totalCount);
  for (const filter of [{ slug: slug("main") }, { metadata: `suite:${run},part:main` }, { state: "running", slug: slug("main") }]) {
    const found = await account.vms.list(filter);
    assert.deepEqual([found.vms.map((one) => one.id), found.totalCount, found.runningCount], [[vm.id], 1, 1]);
  }
  const none = await account.vms.list({ slug: slug("main"), limit: 0 });
  assert.deepEqual([none.vms, none.totalCount], [[], 1]);
});

check("a VM is updated, and an empty slug clears it", async () => {
  const updated = await vm.update({ displayName: "Another name", metadata: { part: "", more: "1" }, idleTimeoutSeconds: -1, automaticRestart: false });
  isVm(updated, "running");
  assert.deepEqual([updated.displayName, updated.metadata, updated.automaticRestart], ["Another name", { suite: run, more: "1" }, false]);
  assert.ok(!("idleTimeoutSeconds" in updated));
  assert.ok(!("slug" in (await vm.update({ slug: "" }))));
  assert.equal((await vm.update({ slug: slug("main") })).slug, slug("main"));
});

check("a slug that is taken is refused as a conflict, and is taken over when that is asked for", async () => {
  await refused(409, "CONFLICT", () => account.vms.create({ ...nothing, slug: slug("main") }));
  const second = await account.vms.create({ ...nothing, slug: slug("main"), reassignSlug: true });
  assert.equal((await account.vms.get(slug("main"))).id, second.vmId);
  assert.ok(!("slug" in (await vm.data())));
  await account.vms.delete(second.vmId);
  await vm.update({ slug: slug("main") });
});

check("what is not there is NOT_FOUND", async () => {
  for (const id of [`vm-${"0".repeat(20)}`, slug("nobody")]) {
    await refused(404, "NOT_FOUND", () => account.vms.get(id));
    await refused(404, "NOT_FOUND", () => account.vms.ref(id).exec("true"));
  }
});

check("a wrong key, and a body that is wrong, are refused with their codes", async () => {
  await refused(401, "INVALID_API_KEY", () => new Freestyle({ baseUrl, apiKey: `${"a".repeat(20)}-wrong` }).vms.list());
  await refused(401, "MISSING_ACCOUNT_CONTEXT", () => new Freestyle({ baseUrl, apiKey: "wrong" }).identities.list());
  await refused(400, "BAD_REQUEST", () => account.vms.create({ ...nothing, slug: "Not A Slug" }));
  await refused(401, "INVALID_CLI_CREDENTIAL", () => new Freestyle({ baseUrl, stackAccessToken: "none", teamId: "a" }).vms.list());
});

check("limits and a placement are kept, and a placement that cannot be had is a conflict", async () => {
  const placement = { antiAffinity: [{ topology: "node", selector: { matchLabels: { apart: run } } }] };
  const limits = { ttlSeconds: 3000, maxRunSeconds: 2000, maxRunTotalSeconds: 2500 };
  const { vm: placed, data } = await account.vms.create({ ...nothing, ...limits, placement, metadata: { apart: run } });
  assert.deepEqual([data.placement, data.ttlSeconds, data.maxRunSeconds, data.maxRunTotalSeconds], [placement, 3000, 2000, 2500]);
  await refused(409, "CONFLICT", () => account.vms.create({ ...nothing, placement }));
  await placed.delete();
});

known(
  "a VM is created with a TLS rule",
  "POST /v5/vms with a rule in `tls` is 503 UNAVAILABLE: there are no TLS rules yet. An empty block is accepted.",
  /^UNAVAILABLE tls: /,
  async () => {
    const { vm: served, tlsRules } = await account.vms.create({
      ...nothing, tls: { rules: [{ action: "allow", domain: "a.example.org", source: {}, destination: { public: true } }] },
    });
    await served.delete();
    assert.equal(tlsRules.length, 1);
  },
);

check("the base snapshots carry the brand word of the clients", async () => {
  const created = await account.vms.create({ ...nothing, snapshotId: "freestyle/busybox" });
  await created.vm.delete();
  assert.equal(created.data.sourceSnapshotSlugAtCreate, "freestyle/busybox");
});

// ---- exec

check("a command's output, errors and status come back", async () => {
  assert.deepEqual(await vm.exec("echo out; echo err >&2; exit 3"), { stdout: "out\n", stderr: "err\n", statusCode: 3 });
  assert.deepEqual(await vm.exec("true"), { stdout: "", stderr: "", statusCode: 0 });
});

check("a command has its environment, its standard input and its user", async () => {
  const result = await vm.exec({
    command: 'printf "%s " "$WORD"; id -un; cat', env: { WORD: "a b" }, stdin: Buffer.from("typed").toString("base64"), linuxUser: "root",
  });
  assert.deepEqual(result, { stdout: "a b root\ntyped", stderr: "", statusCode: 0 });
  assert.equal((await vm.linuxUser("nobody").exec("id -un")).stdout, "nobody\n");
  await refused(400, "BAD_REQUEST", () => vm.linuxUser("stranger").exec("true"));
});

check("a command may be given a day, since the package lets every call go on in the background", async () => {
  assert.deepEqual(await vm.exec({ command: "echo ok", timeoutMs: 86_400_000 }), { stdout: "ok\n", stderr: "", statusCode: 0 });
  await refused(400, "BAD_REQUEST", () => vm.exec({ command: "true", timeoutMs: 86_400_001 }));
});

check("output beyond four MiB is cut, and bytes that are no text are replaced", async () => {
  const much = await vm.exec("head -c 5000000 /dev/zero | tr '\\000' x");
  assert.deepEqual([much.stdout.length, much.truncated, much.statusCode], [4 * 1024 * 1024, true, 0]);
  assert.equal((await vm.exec("printf 'a\\377b'")).stdout, "a\ufffdb");
});

check("a command that is killed by its timeout has no status", async () => {
  const result = await vm.exec({ command: "echo begun; sleep 60", timeoutMs: 1000 });
  assert.deepEqual([result.stdout, result.statusCode], ["begun\n", null]);
});

check("a command that takes long goes on in the background, and its result is polled", async () => {
  const before = backgroundPolls().length;
  const result = await vm.exec({ command: "sleep 7; echo late; exit 4", timeoutMs: 60_000 });
  assert.deepEqual([result.stdout, result.statusCode], ["late\n", 4]);
  assert.ok(requests.some((request) => request.path.endsWith("/exec-await") && request.status === 202));
  assert.ok(backgroundPolls().length > before);
});

check("a call that fails in the background gives the error of the call", async () => {
  const before = backgroundPolls().length;
  const short = await account.vms.create({ ...nothing, slug: slug("short") });
  const failing = failure(() => short.vm.exec({ command: "sleep 60", timeoutMs: 100_000 }));
  await new Promise((resolve) => setTimeout(resolve, 6000)); // past the five seconds after which the package lets it go on in the background
  await short.vm.delete();
  const error = await failing;
  assert.ok(error instanceof FreestyleApiError && error.status >= 400, String(error));
  assert.ok(backgroundPolls().length > before);
});

// ---- files

check("text is written and read, and what a file is can be asked", async () => {
  await vm.fs.writeFile("/srv/deep/note.txt", "one\ntwö\n", { mode: 0o755 });
  assert.equal(await vm.fs.readTextFile("/srv/deep/note.txt"), "one\ntwö\n");
  const stat = await vm.fs.stat("/srv/deep/note.txt");
  assert.match(stat.modified, TIME);
  assert.deepEqual({ ...stat, modified: "" }, {
    size: 9, isFile: true, isDirectory: false, isSymlink: false, permissions: "0755", owner: "root", group: "root", modified: "",
  });
  await vm.fs.writeTextFile("/srv/deep/new.txt", "");
  assert.deepEqual([(await vm.fs.stat("/srv/deep/new.txt")).permissions, (await vm.fs.readFile("/srv/deep/new.txt")).length], ["0600", 0]);
});

check("directories are made, listed and removed", async () => {
  await vm.fs.mkdir("/srv/deep/empty/inner");
  await vm.fs.mkdir("/srv/deep/empty/inner");
  await vm.exec("ln -s note.txt /srv/deep/link");
  assert.deepEqual(await vm.fs.readDir("/srv/deep"), [
    { name: "empty", kind: "directory" }, { name: "link", kind: "symlink" }, { name: "new.txt", kind: "file" }, { name: "note.txt", kind: "file" },
  ]);
  assert.equal((await vm.fs.stat("/srv/deep/link")).isSymlink, true);
  assert.deepEqual([await vm.fs.exists("/srv/deep/link"), await vm.fs.exists("/srv/none")], [true, false]);
  await vm.fs.remove("/srv/deep/empty");
  assert.equal(await vm.fs.exists("/srv/deep/empty"), false);
  for (const attempt of [() => vm.fs.stat("/srv/none"), () => vm.fs.readFile("/srv/none"), () => vm.fs.remove("/srv/none"), () => vm.fs.readDir("/srv/none")]) {
    assert.equal((await failure(attempt)).status, 404);
  }
  await refused(400, "BAD_REQUEST", () => vm.fs.readFile("relative"));
});

check("bytes come back as they were, in one request and in parts", async () => {
  const bytes = new Uint8Array(randomBytes(3 * 1024 * 1024));
  let progress;
  await vm.fs.writeFile("/srv/three.bin", bytes, { onProgress: (told) => { progress = told; } });
  assert.deepEqual(progress, { completedBytes: bytes.length, totalBytes: bytes.length });
  assert.ok(Buffer.from(await vm.fs.readFile("/srv/three.bin")).equals(Buffer.from(bytes)));
  const part = await vm.fs.readFile("/srv/three.bin", { offset: 1_000_000, length: 1000 });
  assert.ok(Buffer.from(part).equals(Buffer.from(bytes.subarray(1_000_000, 1_001_000))));
  assert.equal((await vm.fs.readFile("/srv/three.bin", { offset: bytes.length - 5 })).length, 5);
  let read = 0;
  for await (const piece of await vm.fs.readFileStream("/srv/three.bin")) read += piece.length;
  assert.equal(read, bytes.length);
});

check("a large file is sent in chunks, from memory and from a blob", async () => {
  const bytes = new Uint8Array(randomBytes(10 * 1024 * 1024));
  const told = [];
  await vm.fs.writeFile("/srv/ten.bin", bytes, { chunkSize: 4 * 1024 * 1024, mode: 0o640, onProgress: ({ completedBytes }) => told.push(completedBytes) });
  assert.deepEqual(told, [4194304, 8388608, 10485760]);
  assert.ok(Buffer.from(await vm.fs.readFile("/srv/ten.bin")).equals(Buffer.from(bytes)));
  assert.equal((await vm.fs.stat("/srv/ten.bin")).permissions, "0640");
  await vm.fs.writeFile("/srv/ten.bin", new Blob([bytes.subarray(1)]), { chunkSize: 8 * 1024 * 1024 });
  assert.ok(Buffer.from(await vm.fs.readFile("/srv/ten.bin")).equals(Buffer.from(bytes.subarray(1))));
  assert.equal((await vm.fs.stat("/srv/ten.bin")).permissions, "0640");
});

check("a chunk that is sent twice is found to have arrived, and an upload that fails is aborted", async () => {
  const bytes = new Uint8Array(randomBytes(9 * 1024 * 1024));
  let sent = 0;
  // A connection that breaks after the chunk has arrived: the package has to ask how far the upload is.
  const breaking = async (url, init) => {
    const response = await globalThis.fetch(url, init);
    if (init.method === "PUT" && ++sent === 1) throw new TypeError("fetch failed");
    return response;
  };
  await new Freestyle({ baseUrl, apiKey: key, fetch: breaking }).vms.ref(vm.id).fs.writeFile("/srv/nine.bin", bytes, { chunkSize: 5 * 1024 * 1024 });
  assert.equal(sent, 2);
  assert.ok(Buffer.from(await vm.fs.readFile("/srv/nine.bin")).equals(Buffer.from(bytes)));
  await failure(() => vm.fs.writeFile("/srv/three.bin/below", bytes, { chunkSize: 5 * 1024 * 1024 }));
  assert.ok(requests.some((request) => request.method === "DELETE" && /\/fs\/uploads\/up-/.test(request.path) && request.status === 204));
});

// ---- terminals

/** A terminal with what it shows and how it ended. */
async function terminal(open) {
  const shown = { text: "", exitCode: undefined, closed: undefined };
  const decoder = new TextDecoder();
  shown.session = await open({
    onData: (data) => { shown.text += decoder.decode(data, { stream: true }); },
    onExit: (code) => { shown.exitCode = code; },
    onClose: (info) => { shown.closed = info; },
  });
  return shown;
}

const websocketRequests = [];

check("a terminal is opened, typed into, resized, left and attached to again", async () => {
  const first = await terminal((events) => vm.pty.open({ slug: "work", cols: 100, rows: 30, exec: "/bin/sh", ...events }));
  websocketRequests.push({ method: "GET", path: `/v5/vms/${vm.id}/pty` });
  assert.ok(Number.isInteger(first.session.sessionId) && first.session.sessionId > 0);
  assert.deepEqual([first.session.slug, first.session.created], ["work", true]);
  first.session.write("stty size; echo typed-$((40+2))\n");
  await eventually("what was typed", () => first.text.includes("30 100") && first.text.includes("typed-42"));
  first.session.resize({ cols: 132, rows: 50 });
  first.session.write("stty size\n");
  await eventually("the new size", () => first.text.includes("50 132"));
  first.session.detach();
  await eventually("the end of the connection", () => first.closed);

  const again = await terminal((events) => vm.pty.attach({ session: "work", ...events }));
  websocketRequests.push({ method: "GET", path: `/v5/vms/${vm.id}/pty/sessions/work` });
  await eventually("what was shown before", () => again.text.includes("typed-42"));
  assert.deepEqual([again.session.sessionId, again.session.slug, again.session.created], [first.session.sessionId, "work", false]);
  again.session.write(new TextEncoder().encode("exit 7\n"));
  await eventually("the exit", () => again.exitCode !== undefined);
  assert.equal(again.exitCode, 7);
  again.session.detach();
});

check("terminals are listed with their state, and a closed one is gone", async () => {
  const { sessions } = await vm.pty.list();
  const work = sessions.find((one) => one.slug === "work");
  assert.deepEqual([work.state, work.exitCode, work.cols, work.rows, work.linuxUser], ["exited", 7, 132, 50, "root"]);
  assert.ok(Math.abs(work.createdUnix - Date.now() / 1000) < 600);
  const got = await terminal((events) => vm.pty.open({ slug: "work", exec: "echo never", ...events }));
  assert.deepEqual([got.session.created, got.session.sessionId], [false, work.sessionId]);
  await eventually("its exit again", () => got.exitCode === 7);
  got.session.detach();
  assert.deepEqual(await vm.pty.close("work"), { sessionId: work.sessionId, exitCode: 7 });
  assert.ok(!(await vm.pty.list()).sessions.some((one) => one.sessionId === work.sessionId));
  await refused(404, "NOT_FOUND", () => vm.pty.close("work"));
});

check("a command in a terminal shows all of its output before it has ended", async () => {
  const quick = await terminal((events) => vm.pty.open({ exec: "i=0; while [ $i -lt 2000 ]; do echo line-$i; i=$((i+1)); done; exit 5", ...events }));
  await eventually("the exit", () => quick.exitCode !== undefined);
  assert.equal(quick.exitCode, 5);
  assert.ok(quick.text.includes("line-0\r\n") && quick.text.includes("line-1999"));
  assert.equal(quick.session.slug, undefined);
  quick.session.detach();
});

check("a signal ends what runs in a terminal, and a killed session says so", async () => {
  const sleeper = await terminal((events) => vm.linuxUser("nobody").pty.open({ exec: "id -un; exec sleep 600", ...events }));
  await eventually("its user", () => sleeper.text.includes("nobody"));
  assert.deepEqual((await vm.linuxUser("nobody").pty.list()).sessions.map((one) => one.sessionId), [sleeper.session.sessionId]);
  sleeper.session.signal("sigint");
  await eventually("the exit", () => sleeper.exitCode !== undefined);
  assert.equal(sleeper.exitCode, 130);
  const other = await terminal((events) => vm.pty.open({ exec: "sleep 600", ...events }));
  other.session.signal("sigkill");
  await eventually("the kill", () => other.exitCode !== undefined);
  assert.equal(other.exitCode, 137);
  const closing = await terminal((events) => vm.pty.open({ exec: "sleep 600", ...events }));
  assert.deepEqual(await vm.pty.close(closing.session.sessionId), { sessionId: closing.session.sessionId });
  await eventually("the close", () => closing.closed);
});

check("a shell that is replaced when it exits keeps its session", async () => {
  const kept = await terminal((events) => vm.pty.open({ slug: "kept", replaceOnExit: true, exec: "echo pid-$$; read x", ...events }));
  await eventually("the first shell", () => kept.text.match(/pid-\d+/g)?.length === 1);
  kept.session.write("\n");
  await eventually("the second shell", () => kept.text.match(/pid-\d+/g)?.length === 2);
  assert.equal((await vm.pty.list()).sessions.find((one) => one.slug === "kept").state, "running");
  await vm.pty.close("kept");
});

check("a terminal that is refused fails with its status", async () => {
  const error = await failure(() => account.vms.ref(slug("nobody")).pty.open({}));
  assert.match(String(error.message), /404/);
});

// ---- life

check("a VM that is paused keeps its memory, and start and exec wake it", async () => {
  await vm.exec("echo kept >/dev/shm/note 2>/dev/null || echo kept >/tmp/note; (sleep 1000 & echo $! >/tmp/pid)");
  isVm(await vm.pause(), "paused");
  isVm(await vm.pause(), "paused");
  assert.equal((await account.vms.list({ slug: slug("main") })).pausedCount, 1);
  isVm(await vm.start(), "running");
  isVm(await vm.start(), "running");
  assert.equal((await vm.exec("cat /dev/shm/note /tmp/note 2>/dev/null; kill -0 $(cat /tmp/pid) && echo alive")).stdout, "kept\nalive\n");
  await vm.pause();
  assert.equal((await vm.exec("kill -0 $(cat /tmp/pid) && echo alive")).stdout, "alive\n");
  assert.equal((await vm.data()).state, "running");
});

check("a VM grows while it runs, and never shrinks", async () => {
  const before = (await vm.data()).resources;
  const grown = await vm.resize({ memory: before.memory + 128, storage: before.storage + 500 });
  isVm(grown, "running");
  assert.deepEqual(grown.resources, { ...before, memory: before.memory + 128, storage: before.storage + 500 });
  await refused(400, "BAD_REQUEST", () => vm.resize({ storage: before.storage }));
});

check("a VM that powers itself off is stopped, and start boots it with its disk", async () => {
  await vm.exec("echo disk >/srv/kept; sync; (sleep 1; poweroff -f) >/dev/null 2>&1 &");
  await eventually("the power-off", async () => (await vm.data()).state === "stopped");
  isVm(await vm.start(), "running");
  assert.equal((await vm.exec("cat /srv/kept")).stdout, "disk\n");
});

// ---- snapshots

let snapshotId;
afterwards(() => account.vms.snapshots.delete(snapshotId));

check("a snapshot is taken of a running VM and of a paused one", async () => {
  await vm.exec("echo captured >/tmp/captured");
  const taken = await vm.snapshot({ slug: slug("shot"), displayName: "A shot", ttlSeconds: 3600 });
  snapshotId = taken.snapshotId;
  assert.match(snapshotId, ID.snapshot);
  assert.deepEqual([taken.sourceVmId, taken.snapshot.id, taken.snapshot.public], [vm.id, snapshotId, false]);
  assert.deepEqual([taken.snapshot.slug, taken.snapshot.displayName, taken.snapshot.ttlSeconds], [slug("shot"), "A shot", 3600]);
  assert.match(taken.snapshot.createdAt, TIME);
  assert.equal((await vm.data()).state, "running");
  await refused(409, "CONFLICT", () => vm.snapshot({ slug: slug("shot") }));
  await vm.pause();
  const second = await vm.snapshot();
  assert.equal((await vm.data()).state, "paused");
  await account.vms.snapshots.delete(second.snapshotId);
  await refused(404, "NOT_FOUND", () => account.vms.snapshots.get(second.snapshotId));
});

check("a VM made of a snapshot goes on where it was taken", async () => {
  const { vm: copy, data } = await account.vms.create({ ...nothing, snapshotId: slug("shot"), autoDeleteSeconds: 0 });
  assert.deepEqual([data.snapshotId, data.sourceSnapshotSlugAtCreate, data.sourceSnapshotSlug], [snapshotId, slug("shot"), slug("shot")]);
  assert.deepEqual([data.sourceSnapshotDisplayName, data.autoDeleteSeconds], ["A shot", 0]);
  assert.equal((await copy.exec("cat /tmp/captured")).stdout, "captured\n");
  assert.deepEqual((await account.vms.list({ snapshotId: slug("shot") })).vms.map((one) => one.id), [copy.id]);
  assert.match((await account.vms.snapshots.get(snapshotId)).lastUsedAt, TIME);
  await copy.delete();
});

check("snapshots are listed, renamed and deleted", async () => {
  const { snapshots, totalCount } = await account.vms.snapshots.list({ sourceVmId: vm.id });
  assert.deepEqual([snapshots.map((one) => one.id), totalCount], [[snapshotId], 1]);
  assert.ok((await account.vms.snapshots.list({ limit: 1000, offset: 0 })).snapshots.some((one) => one.id === snapshotId));
  const renamed = await account.vms.snapshots.update(slug("shot"), { slug: "", displayName: "Renamed", ttlSeconds: -1, autoDeleteSeconds: 7200 });
  assert.deepEqual([renamed.id, renamed.displayName, renamed.autoDeleteSeconds], [snapshotId, "Renamed", 7200]);
  assert.ok(!("slug" in renamed) && !("ttlSeconds" in renamed));
  await refused(404, "NOT_FOUND", () => account.vms.snapshots.get(slug("shot")));
  assert.deepEqual(await account.vms.snapshots.get(snapshotId), renamed);
});

// ---- networks

let vpc;
let member;

check("a private network is made with the rules of its members", async () => {
  const created = await account.vpc.create({
    slug: slug("back"), displayName: "Back", cidr: "10.77.5.0/24", firewall: { rules: [{ action: "allow", source: {}, destination: {}, description: "members" }] },
  });
  vpc = created.vpc;
  assert.match(created.vpcId, ID.vpc);
  assert.deepEqual([created.data.slug, created.data.displayName, created.data.cidr], [slug("back"), "Back", "10.77.5.0/24"]);
  assert.match(created.data.cidrV6, /^fd[0-9a-f:]+::\/64$/);
  assert.equal(created.firewallRules.length, 1);
  const [rule] = created.firewallRules;
  assert.match(rule.id, ID.rule);
  assert.deepEqual([rule.source, rule.destination, rule.description], [{ vpcId: vpc.id }, { vpcId: vpc.id }, "members"]);
  assert.deepEqual(rule.dependencies, [{ kind: "vpc", id: vpc.id, slug: slug("back"), displayName: "Back" }]);
});

check("networks are found, listed and renamed", async () => {
  assert.equal((await account.vpc.get(slug("back"))).id, vpc.id);
  assert.equal((await vpc.data()).cidr, "10.77.5.0/24");
  const { vpcs, totalCount } = await account.vpc.list();
  assert.ok(vpcs.some((one) => one.id === vpc.id) && totalCount >= 1);
  const renamed = await vpc.update({ displayName: "" });
  assert.ok(!("displayName" in renamed) && renamed.slug === slug("back"));
  await refused(409, "CONFLICT", () => account.vpc.create({ slug: slug("back") }));
  await refused(400, "BAD_REQUEST", () => account.vpc.create({ cidr: "10.77.5.1/24" }));
});

check("a VM joins a network with the address it asked for, and reaches nothing without a rule", async () => {
  const created = await account.vms.create({
    firewall: { rules: [{ action: "allow", source: { public: true }, destination: { port: 443, protocol: "tcp" } }] },
    slug: slug("member"), vpcs: [{ vpcId: slug("back"), ipv4: "10.77.5.9", ipv6: true, routes: [{ cidr: "192.0.2.0/24", via: "10.77.5.20", metric: 5 }] }],
  });
  member = created.vm;
  isVm(created.data, "running");
  const [network] = created.data.vpcs;
  assert.deepEqual([network.vpc, network.vpcId, network.ipv4, network.cidr], [vpc.id, vpc.id, "10.77.5.9", "10.77.5.0/24"]);
  assert.match(network.ipv6, /^fd[0-9a-f:]+$/);
  assert.deepEqual(network.routes, [{ cidr: "192.0.2.0/24", via: "10.77.5.20", metric: 5 }]);
  assert.deepEqual(created.firewallRules.map((rule) => [rule.source, rule.destination]), [[{ public: true }, { vmId: member.id, port: 443, protocol: "tcp" }]]);
  assert.match((await member.exec("ip addr 2>/dev/null || ifconfig")).stdout, /10\.77\.5\.9/);
  await refused(409, "CONFLICT", () => account.vms.create({ ...nothing, vpcs: [{ vpcId: vpc.id, ipv4: "10.77.5.9" }] }));
  await refused(409, "CONFLICT", () => vpc.delete());
});

// ---- firewall

check("rules are made, found, listed and deleted", async () => {
  const rule = await account.firewall.rules.create({
    action: "allow", source: { cidr: "203.0.113.0/24" }, destination: { vmId: slug("member"), port: 22, protocol: "tcp" }, description: "office",
  });
  assert.match(rule.id, ID.rule);
  assert.deepEqual([rule.action, rule.source, rule.destination], ["allow", { cidr: "203.0.113.0/24" }, { vmId: member.id, port: 22, protocol: "tcp" }]);
  assert.deepEqual(rule.dependencies, [{ kind: "vm", id: member.id, slug: slug("member") }]);
  assert.deepEqual([rule.description, rule.updatedAt], ["office", rule.createdAt]);
  assert.deepEqual(await account.firewall.rules.get(rule.id), rule);
  const ofMember = await member.firewallRules();
  assert.equal(ofMember.totalCount, 3);
  assert.deepEqual(ofMember.rules[0], rule);
  assert.equal((await account.firewall.rules.list({ vpcId: slug("back") })).totalCount, 1);
  assert.equal((await account.firewall.rules.list({ vmId: member.id, limit: 1, offset: 1 })).rules.length, 1);
  await account.firewall.rules.delete(rule.id);
  await refused(404, "NOT_FOUND", () => account.firewall.rules.get(rule.id));
  await refused(404, "NOT_FOUND", () => account.firewall.rules.create({ action: "allow", source: { public: true }, destination: { vmId: slug("nobody") } }));
  const wrong = await refused(400, "BAD_REQUEST", () => account.firewall.rules.create({ action: "allow", source: { cidr: "203.0.113.9/24" }, destination: { vmId: member.id } }));
  assert.ok(wrong.message.includes("203.0.113.0/24"));
});

check("traffic is evaluated against the rules", async () => {
  const to = (port, more) => account.firewall.evaluate({ source: { public: true, address: "198.51.100.7" }, destination: { vmId: member.id, port }, protocol: "tcp", ...more });
  const allowed = await to(443);
  assert.equal(allowed.outcome, "allowedByRule");
  assert.deepEqual((await account.firewall.rules.get(allowed.ruleId)).destination, { vmId: member.id, port: 443, protocol: "tcp" });
  assert.deepEqual(await to(80), { outcome: "denied" });
  assert.deepEqual(await to(22, { source: { platform: true } }), { outcome: "allowedByPlatform", side: "source" });
  assert.deepEqual(
    await account.firewall.evaluate({ source: { vmId: member.id }, destination: { public: true, port: 25 }, protocol: "tcp" }),
    { outcome: "deniedByPlatform", reason: "outboundMail" },
  );
});

// ---- tunnels

let tunnel;

check("a tunnel is made with a key of its own or with the caller's", async () => {
  tunnel = await account.tunnels.create({ slug: slug("office"), displayName: "Office" });
  assert.match(tunnel.id, ID.tunnel);
  assert.equal(tunnel.tunnelId, tunnel.id);
  assert.match(tunnel.clientPrivateKey, PUBLIC_KEY);
  assert.match(tunnel.clientPublicKey, PUBLIC_KEY);
  assert.match(tunnel.serverPublicKey, PUBLIC_KEY);
  assert.ok(tunnel.clientConfig.includes(`PrivateKey = ${tunnel.clientPrivateKey}\n`) && tunnel.clientConfig.includes(`PublicKey = ${tunnel.serverPublicKey}\n`));
  assert.deepEqual([tunnel.routes, tunnel.attachments], [["10.0.0.0/8", "fd00::/8"], []]);
  assert.match(tunnel.clientAddressV4, /^100\.\d+\.\d+\.\d+$/);
  assert.ok(Number.isInteger(tunnel.endpointPort));
  const own = randomBytes(32).toString("base64");
  const second = await account.tunnels.create({ clientPublicKey: own, vpcs: [{ vpcId: vpc.id, ipv4: "10.77.5.30", remoteCidrs: ["198.18.0.0/16"], exit: true }] });
  assert.deepEqual([second.clientPublicKey, second.clientPrivateKey, second.attachments.length], [own, "", 1]);
  assert.deepEqual([second.attachments[0].remoteCidrs, second.attachments[0].exit], [["198.18.0.0/16"], true]);
  await account.tunnels.delete(second.id);
  await refused(409, "CONFLICT", () => account.tunnels.create({ slug: slug("office") }));
});

check("a network is attached to a tunnel and detached from it", async () => {
  const attached = await account.tunnels.attachVpc(slug("office"), slug("back"), { ipv4: "10.77.5.40" });
  const [attachment] = attached.attachments;
  assert.deepEqual([attachment.vpcId, attachment.ipv4, attachment.address, attachment.vpcCidr], [vpc.id, "10.77.5.40", "10.77.5.40", "10.77.5.0/24"]);
  assert.ok(attachment.allowedIps.includes("10.77.5.0/24") && !("exit" in attachment) && !("remoteCidrs" in attachment));
  const { tunnels, totalCount } = await vpc.tunnels.list();
  assert.deepEqual([tunnels.map((one) => one.id), totalCount, "clientPrivateKey" in tunnels[0]], [[tunnel.id], 1, false]);
  await refused(409, "CONFLICT", () => account.tunnels.attachVpc(tunnel.id, vpc.id));
  assert.deepEqual((await account.tunnels.detachVpc(tunnel.id, vpc.id)).attachments, []);
  await refused(404, "NOT_FOUND", () => account.tunnels.detachVpc(tunnel.id, vpc.id));
});

check("a tunnel is found, listed, renamed, given a new key, and deleted", async () => {
  const found = await account.tunnels.get(slug("office"));
  assert.deepEqual([found.id, found.tunnelId, found.displayName, "clientPrivateKey" in found], [tunnel.id, tunnel.id, "Office", false]);
  assert.ok((await account.tunnels.list()).tunnels.some((one) => one.id === tunnel.id));
  assert.ok(!("displayName" in (await account.tunnels.update(tunnel.id, { displayName: "" }))));
  const rotated = await account.tunnels.rotateKey(tunnel.id);
  assert.notEqual(rotated.clientPublicKey, tunnel.clientPublicKey);
  assert.match(rotated.clientPrivateKey, PUBLIC_KEY);
  assert.deepEqual([rotated.serverPublicKey, rotated.clientAddressV4], [tunnel.serverPublicKey, tunnel.clientAddressV4]);
  await account.tunnels.delete(tunnel.id);
  await refused(404, "NOT_FOUND", () => account.tunnels.get(tunnel.id));
});

check("a VM and its network are deleted, and the rules that name them go with them", async () => {
  await member.delete();
  await refused(404, "NOT_FOUND", () => account.vms.get(slug("member")));
  assert.equal((await account.firewall.rules.list({ vpcId: vpc.id })).totalCount, 1);
  await vpc.delete();
  await refused(404, "NOT_FOUND", () => account.vpc.get(vpc.id));
  await refused(404, "NOT_FOUND", () => account.firewall.rules.list({ vpcId: vpc.id }));
});

// ---- identities

let identity;
let token;

check("identities are made, found and listed", async () => {
  const created = await account.identities.create();
  identity = created.identity;
  assert.match(created.identityId, UUID);
  assert.deepEqual(created.data, { id: identity.id, managed: false });
  const data = await identity.data();
  assert.match(data.accountId, UUID);
  assert.deepEqual(data, { id: identity.id, accountId: data.accountId, managed: false });
  const { identities, total } = await account.identities.list({ limit: 1000 });
  assert.ok(identities.some((one) => one.id === identity.id) && total >= 1);
  await refused(404, "IDENTITY_NOT_FOUND", () => account.identities.get("00000000-0000-0000-0000-000000000000"));
  const managed = await account.identities.create({ managed: true });
  assert.equal(managed.data.managed, true);
  assert.ok(!(await account.identities.list()).identities.some((one) => one.id === managed.identityId));
  assert.ok((await account.identities.list({ includeManaged: true })).identities.some((one) => one.id === managed.identityId));
  await refused(400, "MANAGED_IDENTITY_DELETE", () => managed.identity.delete());
});

check("a token is given once, listed and revoked", async () => {
  token = await identity.tokens.create();
  assert.match(token.id, UUID);
  assert.match(token.token, /^sit_[0-9a-f]{32}_[A-Za-z0-9]{43}$/);
  const other = await identity.tokens.create();
  assert.deepEqual((await identity.tokens.list()).map((one) => one.id).sort(), [token.id, other.id].sort());
  await identity.tokens.revoke(other.id);
  assert.deepEqual(await identity.tokens.list(), [{ id: token.id }]);
  await refused(401, "INVALID_IDENTITY_TOKEN", () => new Freestyle({ baseUrl, identityAccessToken: other.token }).vms.ref(vm.id).exec("true"));
});

check("a grant is made, read, narrowed and listed", async () => {
  await refused(404, "VM_PERMISSION_NOT_FOUND", () => identity.permissions.vm.get(vm.id));
  const grant = await identity.permissions.vm.grant({ vmId: vm.id });
  assert.match(grant.id, UUID);
  assert.match(grant.grantedAt, TIME);
  assert.deepEqual([grant.identityId, grant.vmId, grant.allowedLinuxUsers], [identity.id, vm.id, null]);
  assert.match(grant.grantedBy, UUID);
  const narrowed = await identity.permissions.vm.update(vm.id, ["nobody"]);
  assert.deepEqual(narrowed, { ...grant, allowedLinuxUsers: ["nobody"] });
  assert.deepEqual(await identity.permissions.vm.get(vm.id), narrowed);
  assert.deepEqual(await identity.permissions.vm.list(), [narrowed]);
});

check("an identity runs commands and terminals as the users of its grant, and nothing else", async () => {
  const guest = new Freestyle({ baseUrl, identityAccessToken: token.token });
  const granted = guest.vms.ref(vm.id);
  assert.equal((await granted.linuxUser("nobody").exec("id -un")).stdout, "nobody\n");
  await refused(403, "LINUX_USER_NOT_ALLOWED", () => granted.linuxUser("root").exec("id -un"));
  assert.equal((await failure(() => granted.fs.readFile("/etc/passwd"))).status, 403);
  await refused(403, "FORBIDDEN", () => guest.vms.list());
  const shown = await terminal((events) => granted.linuxUser("nobody").pty.open({ exec: "id -un", ...events }));
  await eventually("the user of the terminal", () => shown.text.includes("nobody") && shown.exitCode === 0);
  assert.deepEqual((await granted.linuxUser("nobody").pty.list()).sessions.map((one) => one.linuxUser), ["nobody"]);
  await granted.linuxUser("nobody").pty.close(shown.session.sessionId);
  assert.equal((await granted.data()).id, vm.id);
});

check("a file call of an identity without the right of root is FORBIDDEN", async () => {
  const granted = new Freestyle({ baseUrl, identityAccessToken: token.token }).vms.ref(vm.id);
  await refused(403, "FORBIDDEN", () => granted.fs.readFile("/etc/passwd"));
});

check("an identity's long command is polled with its token", async () => {
  const before = backgroundPolls().length;
  const granted = new Freestyle({ baseUrl, identityAccessToken: token.token }).vms.ref(vm.id);
  const result = await granted.linuxUser("nobody").exec({ command: "sleep 6; echo late", timeoutMs: 60_000 });
  assert.deepEqual(result, { stdout: "late\n", stderr: "", statusCode: 0 });
  assert.ok(backgroundPolls().length > before);
});

check("what is revoked ends, and a deleted identity is gone", async () => {
  await identity.permissions.vm.revoke(vm.id);
  assert.deepEqual(await identity.permissions.vm.list(), []);
  await refused(404, "NOT_FOUND", () => new Freestyle({ baseUrl, identityAccessToken: token.token }).vms.ref(vm.id).linuxUser("nobody").exec("true"));
  await identity.delete();
  await refused(404, "IDENTITY_NOT_FOUND", () => account.identities.get(identity.id));
});

// ---- the whole

check("the unversioned paths that the package's raw fetch names answer", async () => {
  assert.deepEqual(await (await account.fetch("/status")).json(), { status: "ok" });
  assert.equal((await (await account.fetch("/openapi.json")).json()).info.version, "0.1.0");
});

check("every route that the package can call and the server has was asked for", async () => {
  const left = undriven(callable(packages), await served(baseUrl), [...requests, ...websocketRequests], "freestyle");
  assert.deepEqual(left, []);
});

check("what the server does not have yet is NOT_FOUND for the package, which takes it for absent", async () => {
  assert.equal(await account.domains.placeholder.get(), null);
});

check("the list of pending routes is exact", async () => {
  comparePending(pendingLines(callable(packages), await served(baseUrl)));
});

await runChecks();
