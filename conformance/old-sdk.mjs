// Drives everything that the older package (`freestyle-sandboxes`) can do and the server has, through the package.

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { afterwards, baseSnapshot, baseUrl, check, eventually, failure, key, known, load, packages, requests, runChecks } from "./checks.mjs";
import { callable, served, undriven } from "./routes.mjs";

process.env.FREESTYLE_API_URL = baseUrl;
const { Errors, Freestyle, VmSpec } = await load("freestyle-sandboxes");
const account = new Freestyle({ apiKey: key }); // the base URL is that of the environment

/** The package sends some calls to a relative URL, which works with a fetch that knows where the server is. */
const relative = (url, init) => globalThis.fetch(new URL(url, baseUrl).href, init);

const ID = { vm: /^vm-[a-z0-9]{20}$/, snapshot: /^sh-[a-z0-9]{20}$/ };
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const small = await baseSnapshot("busybox");
const withSystemd = await baseSnapshot("debian");

/** The error class that the package has for this code. */
async function refused(type, attempt) {
  const error = await failure(attempt);
  assert.ok(error instanceof type, `${error.name}: ${error.message}`);
  assert.equal(error.body.code, type.code);
  return error.body;
}

// ---- VMs

let vm;
afterwards(() => vm.delete());

check("a VM is created with the defaults of older clients", async () => {
  const created = await account.vms.create({ snapshotId: small, idleTimeoutSeconds: 900, workdir: "/srv" });
  vm = created.vm;
  assert.match(created.vmId, ID.vm);
  assert.equal(created.id, created.vmId);
  assert.match(created.snapshotId, ID.snapshot);
  assert.ok(Array.isArray(created.domains));
  assert.ok(!("consoleUrl" in created));
});

check("a VM is created with nothing said, and one that is deleted is told to be", async () => {
  const created = await account.vms.create();
  assert.match(created.vmId, ID.vm);
  await created.vm.delete();
  const body = await refused(Errors.VmDeletedError, () => created.vm.start());
  assert.equal(body.vmId, created.vmId);
});

known(
  "the ports of a VM are published under a host name",
  "`domains` of a created VM is empty, whatever `ports` say: the server publishes nothing yet.",
  /^ERR_ASSERTION [\s\S]*0 !== 1/,
  async () => {
    const created = await account.vms.create({ snapshotId: small, ports: [{ port: 443, targetPort: 3000 }] });
    await created.vm.delete();
    assert.equal(created.domains.length, 1);
  },
);

check("a VM's state is told", async () => {
  const info = await vm.getInfo();
  assert.deepEqual([info.id, info.state], [vm.vmId, "running"]);
  assert.match(info.vmInstanceId, UUID);
  assert.deepEqual(Object.keys(info).sort(), ["cpuTimeSeconds", "id", "lastNetworkActivity", "state", "vmInstanceId"]);
  assert.equal((await account.vms.get({ vmId: vm.vmId })).vm.vmId, vm.vmId);
  assert.equal((await account.vms.ref({ vmId: vm.vmId.slice(3) }).getInfo()).id, vm.vmId, "the oldest form of an id, without its prefix");
});

check("VMs are listed with their counts", async () => {
  const list = await account.vms.list();
  const item = list.vms.find((one) => one.id === vm.vmId);
  assert.deepEqual([item.state, item.deleted, item.createdDeclaratively, item.metrics], ["running", false, false, null]);
  assert.deepEqual(item.persistence, { type: "sticky", priority: 5 });
  assert.match(item.createdAt, TIME);
  for (const count of ["totalCount", "runningCount", "startingCount", "suspendedCount", "stoppedCount"]) assert.ok(Number.isInteger(list[count]), count);
  assert.equal(list.userId, null);
});

check("what is not there, and a wrong key, are the errors that the package has classes for", async () => {
  const gone = await refused(Errors.VmNotFoundError, () => account.vms.ref({ vmId: `vm-${"0".repeat(20)}` }).getInfo());
  assert.equal(gone.vmId, `vm-${"0".repeat(20)}`);
  const body = await refused(Errors.UnauthorizedErrorError, () => new Freestyle({ apiKey: "wrong" }).vms.list());
  assert.equal(typeof body.route, "string");
  const none = await refused(Errors.SnapshotNotFoundError, () => account.vms.create({ snapshotId: `sh-${"0".repeat(20)}` }));
  assert.equal(none.snapshotId, `sh-${"0".repeat(20)}`);
});

// ---- exec and files

check("a command's output, errors and status come back, and it runs where the VM says", async () => {
  assert.deepEqual(await vm.exec("pwd; echo err >&2; exit 3"), { stdout: "/srv\n", stderr: "err\n", statusCode: 3 });
  assert.deepEqual(await vm.exec({ command: "sleep 60", timeoutMs: 1000 }), { stdout: "", stderr: "", statusCode: null });
  assert.equal((await vm.user({ username: "nobody" }).exec("id -un")).stdout, "nobody\n");
});

check("text and bytes are written and read", async () => {
  await vm.fs.writeTextFile("/srv/note.txt", "one\ntwö\n");
  assert.equal(await vm.fs.readTextFile("/srv/note.txt"), "one\ntwö\n");
  assert.equal(await vm.fs.readTextFile("note.txt"), "one\ntwö\n", "a path without a leading slash is below the working directory");
  const bytes = randomBytes(3 * 1024 * 1024);
  await vm.fs.writeFile("/srv/deep/three.bin", bytes);
  assert.ok((await vm.fs.readFile("/srv/deep/three.bin")).equals(bytes));
  const missing = await refused(Errors.FileNotFoundError, () => vm.fs.readFile("/srv/none"));
  assert.equal(missing.path, "/srv/none");
});

check("directories are made, listed and removed, and files are described", async () => {
  await vm.fs.mkdir("/srv/deep/er/still", true);
  assert.deepEqual((await vm.fs.readDir("/srv/deep")).sort((a, b) => (a.name < b.name ? -1 : 1)), [
    { name: "er", kind: "directory" }, { name: "three.bin", kind: "file" },
  ]);
  const stat = await vm.fs.stat("/srv/note.txt");
  assert.deepEqual([stat.size, stat.isFile, stat.isDirectory, stat.permissions, stat.owner, stat.group], [9, true, false, "644", "root", "root"]);
  assert.equal((await vm.fs.stat("/srv/deep")).isDirectory, true);
  await vm.fs.remove("/srv/deep", true);
  assert.deepEqual([await vm.fs.exists("/srv/deep"), await vm.fs.exists("/srv/note.txt")], [false, true]);
});

check("files are written and refused as a user of the guest", async () => {
  const nobody = vm.user({ username: "nobody" });
  await nobody.fs.writeTextFile("/tmp/own.txt", "mine");
  assert.equal((await vm.fs.stat("/tmp/own.txt")).owner, "nobody");
  await refused(Errors.AccessDeniedError, () => nobody.fs.writeTextFile("/srv/note.txt", "no"));
});

check("changes of files are told as they happen, through a fetch that resolves relative URLs", async () => {
  const watching = new Freestyle({ apiKey: key, fetch: relative }).vms.ref({ vmId: vm.vmId }).fs.watchFiles();
  const first = watching.next();
  const timer = setInterval(() => vm.fs.writeTextFile("/srv/watched.txt", String(Date.now())).catch(() => {}), 500);
  try {
    const { value } = await first;
    assert.ok(["create", "modify", "rename"].includes(value.eventType), value.eventType);
    assert.ok(value.filename.startsWith("/srv/"), value.filename);
  } finally {
    clearInterval(timer);
  }
});

// ---- terminals

check("the output of a command is kept in the terminal that it names", async () => {
  assert.equal((await vm.exec({ command: "echo shown-here", terminal: "main" })).stdout, "shown-here\n");
  const { terminals } = await vm.terminals.list();
  const main = terminals.find((one) => one.name === "main");
  assert.deepEqual(Object.keys(main).sort(), ["created", "name", "status"]);
  const { logs } = await vm.terminals.getLogs({ terminalId: "main" });
  assert.ok(logs.some((entry) => entry.line.endsWith("shown-here") && "timestamp" in entry), JSON.stringify(logs)); // a prompt may stand before it;
  assert.ok((await vm.terminals.getOutput({ terminalId: "main" })).output.includes("shown-here"));
  await refused(Errors.NotFoundError, () => vm.terminals.getLogs({ terminalId: "other" }));
});

// ---- life

check("a VM is suspended with its memory, and goes on", async () => {
  await vm.exec("sleep 1000 >/dev/null 2>&1 & echo $! >/tmp/pid");
  const suspended = await vm.suspend();
  assert.equal(suspended.id, vm.vmId);
  assert.match(suspended.vmInstanceId, UUID);
  assert.match(suspended.snapshotLayerId, /^sl-[a-z0-9]{20}$/);
  assert.equal((await vm.getInfo()).state, "suspended");
  const started = await vm.start({ idleTimeoutSeconds: 800 });
  assert.equal(started.id, vm.vmId);
  assert.ok(Array.isArray(started.domains) && "console_url" in started);
  assert.equal((await vm.exec("kill -0 $(cat /tmp/pid) && echo alive")).stdout, "alive\n");
  assert.equal((await vm.optimize()).id, vm.vmId);
});

check("a VM grows", async () => {
  await vm.start();
  assert.deepEqual(await vm.resize({ rootfsSizeGb: 2 }), {});
  await refused(Errors.BadRequestError, () => vm.resize({ rootfsSizeGb: 1 }));
});

check("a VM is stopped, whoever waits for it is told, and it boots its disk", async () => {
  await vm.exec("echo disk >/srv/kept; sync");
  const waiting = vm.waitForExit();
  const stopped = await vm.stop();
  assert.equal(stopped.vmId, vm.vmId);
  assert.match(stopped.vmInstanceId, UUID);
  assert.deepEqual(await waiting, { id: vm.vmId, exitStatus: "stopped" });
  assert.equal((await vm.getInfo()).state, "stopped");
  await vm.start();
  assert.equal(await vm.fs.readTextFile("/srv/kept"), "disk\n");
  assert.deepEqual(await vm.kill(), { id: vm.vmId });
  assert.equal((await vm.getInfo()).state, "stopped");
  await refused(Errors.VmNotRunningError, () => vm.suspend());
  await vm.start();
});

check("a VM is forked into copies that go on from the same instant", async () => {
  await vm.exec("echo same >/tmp/forked");
  const { forks } = await vm.fork({ count: 2, idleTimeoutSeconds: 600 });
  assert.equal(forks.length, 2);
  for (const fork of forks) {
    assert.match(fork.vmId, ID.vm);
    assert.equal((await fork.vm.exec("cat /tmp/forked")).stdout, "same\n");
    assert.deepEqual(await fork.vm.delete(), { id: fork.vmId });
  }
  const list = await account.vms.list();
  assert.ok(!list.vms.some((one) => forks.some((fork) => fork.vmId === one.id)));
});

// ---- snapshots

check("a snapshot is taken, a VM is made of it, and it is deleted", async () => {
  await vm.exec("echo captured >/tmp/captured");
  const taken = await vm.snapshot({ name: "A shot" });
  assert.match(taken.snapshotId, ID.snapshot);
  assert.equal(taken.sourceVmId, vm.vmId);
  assert.match(taken.sourceVmInstanceId, UUID);
  const copy = await account.vms.create({ snapshotId: taken.snapshotId.replace("sh-", "sc-"), persistence: { type: "ephemeral" } });
  assert.equal(copy.snapshotId, taken.snapshotId);
  assert.equal((await copy.vm.exec("cat /tmp/captured")).stdout, "captured\n");
  assert.deepEqual(await account.vms.delete({ vmId: copy.vmId }), { id: copy.vmId });
  const deleted = await account.vms.snapshots.delete({ snapshotId: taken.snapshotId });
  assert.deepEqual([deleted.snapshotId, deleted.snapshot_id], [taken.snapshotId, taken.snapshotId]);
  await refused(Errors.SnapshotAlreadyDeletedError, () => account.vms.snapshots.delete({ snapshotId: taken.snapshotId }));
});

known(
  "a snapshot is built of a template",
  "POST /v1/vms/snapshots, and `template` in POST /v1/vms, are not there yet; with them the package sends every VmSpec that has a snapshot.",
  /UNAVAILABLE: template builds/,
  async () => {
    const { snapshotId } = await account.vms.snapshots.ensure({
      template: { snapshotId: small, additionalFiles: { "/srv/of-template": { content: "built" } }, discriminator: randomBytes(4).toString("hex") },
    });
    assert.match(snapshotId, ID.snapshot);
  },
);

check("a VM is created of a specification: size, files and groups", async () => {
  const spec = new VmSpec({ snapshotId: small }).idleTimeoutSeconds(700).additionalFiles({ "/srv/run.sh": { content: "#!/bin/sh\necho ran\n", executable: true } });
  const created = await account.vms.create({ spec, rootfsSizeGb: 3 });
  assert.equal((await created.vm.exec("/srv/run.sh")).stdout, "ran\n");
  await created.vm.delete();
});

let systemd;

// ---- calls that go on in the background

check("a creation with a logger is deferred when it takes long, and its result is polled", async () => {
  const lines = [];
  const created = await account.vms.create({ snapshotId: small, logger: (line) => lines.push(line) });
  assert.match(created.vmId, ID.vm);
  await created.vm.delete();
});

check("a creation that outlasts the package's patience is polled to its end", async () => {
  // Waits in the guest for a signal that does not come in time, so that it takes longer than the five seconds of the package.
  const before = requests.length;
  const created = await account.vms.create({
    snapshotId: withSystemd,
    systemd: { services: [{ name: "slow", mode: "oneshot", exec: ["/bin/sleep 8"], readySignal: true }] },
    logger: () => {},
  });
  assert.match(created.vmId, ID.vm);
  assert.ok(requests.slice(before).some((request) => request.path.startsWith("/auth/v1/background-requests/")));
  systemd = created.vm;
});

// ---- services

afterwards(() => systemd.delete());

check("a service is made, described, stopped, started and deleted", async () => {
  assert.ok((await systemd.systemd.list()).services.some((one) => one.name === "slow"));
  const made = await systemd.systemd.create({
    name: "ticker", mode: "service", exec: ["/bin/sh -c 'echo ticking; exec sleep 1000'"], env: { WORD: "a b" }, restartPolicy: { policy: "always", restartSec: 1 },
  });
  assert.deepEqual([made.success, made.serviceName, typeof made.message], [true, "ticker", "string"]);
  const ticker = systemd.systemd.service("ticker");
  await eventually("its start", async () => (await ticker.status()).activeState === "active");
  assert.deepEqual(Object.keys(await ticker.status()).sort(), ["activeState", "description", "loadState", "name", "subState"]);
  await eventually("its output", async () => (await ticker.logs({ lines: 10 })).logs.some((entry) => entry.message === "ticking"));
  assert.deepEqual((await ticker.stop()).results.map((one) => [one.serviceId, one.success]), [["ticker", true]]);
  assert.equal((await ticker.status()).activeState, "inactive");
  assert.equal((await ticker.start()).results[0].success, true);
  assert.equal((await ticker.restart()).results[0].success, true);
  const mixed = await systemd.systemd.restart({ services: [{ id: "ticker" }, { id: "nothing" }] });
  assert.deepEqual(mixed.results.map((one) => one.success), [true, false]);
  await refused(Errors.ServiceAlreadyExistsError, () => systemd.systemd.create({ name: "ticker", mode: "service", exec: ["/bin/true"] }));
  assert.equal((await ticker.delete()).success, true);
  await refused(Errors.ServiceNotFoundError, () => ticker.status());
  await refused(Errors.ServiceNameEmptyError, () => systemd.systemd.create({ name: "", mode: "service", exec: ["/bin/true"] }));
});

check("a VM is created with users, groups and a service of a script", async () => {
  const { vm: made } = await account.vms.create({
    snapshotId: withSystemd,
    users: [{ name: "app", groups: ["team"] }],
    groups: [{ name: "team" }],
    systemd: { services: [{ name: "script", mode: "oneshot", bash: "id -un >/srv/of-service", readySignal: true }] },
  });
  assert.equal((await made.exec("id -Gn app; cat /srv/of-service")).stdout, "app team\nroot\n");
  assert.equal((await made.user({ username: "app" }).exec("pwd; id -un")).stdout.split("\n")[1], "app");
  await made.delete();
  await refused(Errors.DuplicateUserNameError, () => account.vms.create({ snapshotId: withSystemd, users: [{ name: "a" }, { name: "a" }] }));
});

// ---- identities

let identity;

check("identities are made and listed", async () => {
  const created = await account.identities.create();
  identity = created.identity;
  assert.match(created.identityId, UUID);
  const list = await account.identities.list({ limit: 1000 });
  assert.ok(list.identities.some((one) => one.id === identity.identityId && one.managed === false));
  assert.deepEqual([list.offset, list.total >= 1], [0, true]);
});

check("a grant is made once, changed, listed and revoked", async () => {
  const vms = identity.permissions.vms;
  const grant = await vms.grant({ vmId: vm.vmId, allowedUsers: ["nobody"] });
  assert.deepEqual([grant.vmId, grant.identityId, grant.allowedUsers], [vm.vmId, identity.identityId, ["nobody"]]);
  await refused(Errors.PermissionAlreadyExistsError, () => vms.grant({ vmId: vm.vmId }));
  assert.deepEqual(await vms.get({ vmId: vm.vmId }), grant);
  assert.deepEqual(await vms.list(), { permissions: [grant], offset: 0, total: 1 });
  assert.deepEqual((await vms.update({ vmId: vm.vmId, allowedUsers: ["root", "nobody"] })).allowedUsers.sort(), ["nobody", "root"]);
});

check("an identity works with its token until it is revoked", async () => {
  const { tokenId, token } = await identity.tokens.create();
  assert.match(tokenId, UUID);
  assert.deepEqual(await identity.tokens.list(), { tokens: [{ id: tokenId }] });
  const guest = new Freestyle({ accessToken: token, fetch: relative });
  assert.equal((await guest.whoami()).identityId, identity.identityId);
  const granted = guest.vms.ref({ vmId: vm.vmId });
  assert.equal((await granted.user({ username: "nobody" }).exec("id -un")).stdout, "nobody\n");
  await granted.user({ username: "nobody" }).fs.writeTextFile("/tmp/by-identity", "x");
  assert.equal((await granted.getInfo()).id, vm.vmId);
  await refused(Errors.ForbiddenError, () => guest.vms.list());
  assert.deepEqual(await identity.tokens.revoke({ tokenId }), {});
  await refused(Errors.UnauthorizedErrorError, () => granted.getInfo());
});

check("a grant is revoked, and an identity is deleted", async () => {
  assert.deepEqual(await identity.permissions.vms.revoke({ vmId: vm.vmId }), {});
  await refused(Errors.VmPermissionNotFoundError, () => identity.permissions.vms.get({ vmId: vm.vmId }));
  assert.deepEqual(await account.identities.delete({ identityId: identity.identityId }), {});
  await refused(Errors.IdentityNotFoundError, () => identity.tokens.list());
});

check("the account is told who it is, through a fetch that resolves relative URLs", async () => {
  const whoami = await new Freestyle({ apiKey: key, fetch: relative }).whoami();
  assert.match(whoami.accountId, UUID);
  assert.equal(whoami.identityId, null);
});

// ---- the whole

check("every route that the package can call and the server has was asked for", async () => {
  assert.deepEqual(undriven(callable(packages), await served(baseUrl), requests, "freestyle-sandboxes"), []);
});

await runChecks();
