import { execFile, execFileSync } from "node:child_process";
import { existsSync, globSync, readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, matchesGlob } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { readConfig, settings } from "../../src/config/config.ts";
import { unknownSettings } from "../../src/config/setting-rules.ts";

const root = fileURLToPath(new URL("../../../..", import.meta.url));
const read = (...path: string[]) => readFileSync(join(root, "deploy", ...path), "utf8");
const all = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, found = ""]) => found);
const one = (text: string, pattern: RegExp) => {
  const found = all(text, pattern);
  expect(found, String(pattern)).toHaveLength(1);
  return found[0] ?? "";
};

const kubectl = "/usr/bin/kubectl";
const systemdAnalyze = "/usr/bin/systemd-analyze";
const dockerfile = read("Dockerfile");
const compose = read("compose", "compose.yaml");
const unit = read("systemd", "gantry.service");
const pods = ["api.yaml", "worker.yaml"].map((name) => read("kubernetes", name));
const port = one(dockerfile, /\bPORT=(\d+)/g);

/** `NAME: value` lines. Values of secrets are examples or empty. */
const mapping = (text: string) =>
  Object.fromEntries(
    [...text.matchAll(/^ {2}([A-Z][A-Z0-9_]+): (.*)$/gm)].map(([, name = "", value = ""]) => [
      name,
      value.replaceAll(/^"|"$/g, ""),
    ]),
  );
const secrets = {
  GANTRY_ADMIN_KEY: "deploy-test-key-0123456789-0123456789",
  GANTRY_SECRET_KEY: Buffer.alloc(32, 7).toString("base64"),
};
const podSettings = {
  ...mapping(read("kubernetes", "config.yaml")),
  ...mapping(read("kubernetes", "secret.example.yaml")),
};
/** Compose's own defaults, and a value for the rest. */
const composeSettings = Object.fromEntries(
  Object.entries(mapping(compose.slice(compose.indexOf("x-environment"), compose.indexOf("services:")))).map(
    ([name, value]) => [name, value.replaceAll(/\$\{\w+(?::-([^}]*)|:\?)?\}/g, (_, given) => given ?? "secret")],
  ),
);

describe("the image", () => {
  const ignored = read("Dockerfile.dockerignore").trim().split("\n");

  /** As Docker decides: the last matching line wins, and a line covers everything below it. */
  function isInContext(file: string): boolean {
    let isIn = true;
    const parts = file.split("/");
    const paths = parts.map((_, n) => parts.slice(0, n + 1).join("/"));
    for (const line of ignored) {
      const pattern = line.replace(/^!/, "");
      // Node's `*` leaves out names that begin with a dot, Docker's does not.
      if (pattern === "*" || paths.some((path) => matchesGlob(path, pattern))) isIn = line.startsWith("!");
    }
    return isIn;
  }
  const context = execFileSync("git", ["ls-files"], { cwd: root, encoding: "utf8" })
    .split("\n")
    .filter((file) => file !== "" && isInContext(file));

  test("its build context has everything that the Dockerfile copies, and no tests", () => {
    const sources = all(dockerfile, /^COPY (?!--)(.*) \S+$/gm).flatMap((line) => line.split(" "));
    expect(sources.length).toBeGreaterThan(6);
    const missing = sources.filter(
      (source) => !context.some((file) => file === source || file.startsWith(`${source}/`)),
    );
    expect(missing).toEqual([]);
    expect(context.filter((file) => /\.test\.ts$|\/test\//.test(file))).toEqual([]);
  });

  test("its build finds the scripts that the build starts, and the texts that the console includes", () => {
    const started = context
      .filter((file) => file.startsWith("scripts/"))
      .flatMap((script) => all(readFileSync(join(root, script), "utf8"), /["/]([\w-]+\.mjs)"/g))
      .map((name) => `scripts/${name}`);
    expect(started).toContain("scripts/build-console.mjs");
    expect(started.filter((script) => !context.includes(script))).toEqual([]);
    for (const included of ["docs/start.md", "docs/operate/install.md", "examples/agents"])
      expect(
        context.some((file) => file.startsWith(included)),
        included,
      ).toBe(true);
  });

  test("starts a program that exists, on its port, with its state in the volume", () => {
    const program = one(dockerfile, /^CMD \["node", "(.*)"\]$/gm);
    expect(context).toContain(program);
    expect(one(dockerfile, /^EXPOSE (\d+)$/gm)).toBe(port);
    expect(one(dockerfile, /GANTRY_HOME=(\S+)/g)).toBe(one(dockerfile, /^VOLUME (\S+)$/gm));
  });
});

test.each([
  ["Compose", composeSettings],
  ["Kubernetes", podSettings],
])("the server accepts the settings of %s", (_, given) => {
  expect(Object.keys(given).length).toBeGreaterThan(9);
  const environment = { ...given, ...secrets };
  expect(unknownSettings(environment, Object.keys(settings))).toEqual([]);
  expect(Object.keys(given).filter((name) => !(name in settings))).toEqual([]);
  for (const role of ["api", "worker"]) {
    const config = readConfig({ ...environment, GANTRY_ROLE: role }, root);
    expect(config).toMatchObject({ S3_BUCKET: "gantry", GANTRY_METRICS_OPEN: true, GANTRY_ROLE: role });
    // Connections and resources in these files are those of one process.
    expect(config).toMatchObject({ GANTRY_PROCESSES: 1 });
    expect(config.GANTRY_TRUSTED_PROXIES).not.toEqual([]);
  }
});

test("the proxy in the README sends addresses of clients, and the server believes it", () => {
  const readme = read("README.md");
  expect(readme).toContain("proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;");
  const given = one(readme, /^GANTRY_TRUSTED_PROXIES=(.*)$/gm);
  const { GANTRY_TRUSTED_PROXIES: trusted } = readConfig({ GANTRY_TRUSTED_PROXIES: given, ...secrets }, root);
  const host = one(readme, /^ +proxy_pass http:\/\/([\d.]+):/gm);
  expect(trusted.some((entry) => entry.kind === "range" && entry.range.check(host, "ipv4"))).toBe(true);
});

/** Beyond the grace period, for the last writes and for PostgreSQL to stop: see docs/operate/install.md. */
const lastSeconds = 15;

test.each([
  ["Compose", one(compose, /stop_grace_period: (\d+)s/g), composeSettings],
  ["systemd", one(unit, /^TimeoutStopSec=(\d+)$/gm), {}],
  ["the api pods", one(pods[0] ?? "", /terminationGracePeriodSeconds: (\d+)/g), podSettings],
  ["the worker pods", one(pods[1] ?? "", /terminationGracePeriodSeconds: (\d+)/g), podSettings],
  ["the README", one(read("README.md"), /docker stop -t (\d+)/g), {}],
])("%s: waits for a stopping server", (_, seconds, given) => {
  const config = readConfig({ ...given, ...secrets }, root);
  const needed = config.GANTRY_STOP_DELAY_SECONDS + config.GANTRY_STOP_GRACE_SECONDS + lastSeconds;
  expect(Number(seconds)).toBeGreaterThanOrEqual(needed);
});

describe("Compose", () => {
  test("names files that exist", () => {
    const folder = join(root, "deploy", "compose");
    const context = join(folder, one(compose, /context: (\S+)/g));
    expect(existsSync(join(context, one(compose, /dockerfile: (\S+)/g)))).toBe(true);
    for (const file of all(compose, /"\.\/([^:"]+):/g)) expect(existsSync(join(folder, file)), file).toBe(true);
    const asked = new Set(all(compose, /\$\{(\w+)/g));
    expect(new Set(all(read("compose", "example.env"), /^(\w+)=/gm))).toEqual(asked);
  });

  test("the proxy reaches the port of the image, and leaves out the metrics", () => {
    const caddy = read("compose", "Caddyfile");
    expect(one(caddy, /^\t\t\tport (\d+)$/gm)).toBe(port);
    expect(one(compose, /ports: \["\d+:(\d+)"\]\n {4}volumes: \["\.\/Caddyfile/g)).toBe(one(caddy, /^:(\d+) \{$/gm));
    expect(caddy).toContain("@metrics path /metrics /metrics/*\n\trespond @metrics 404");
  });

  test("PostgreSQL has connections for twice the nodes", () => {
    const nodes = all(compose, /replicas: (\d+)/g).reduce((sum, count) => sum + Number(count), 0);
    const each = Number(one(compose, /up to (\d+) connections/g));
    expect(Number(one(compose, /max_connections=(\d+)/g))).toBeGreaterThanOrEqual(2 * nodes * each);
  });
});

describe("Kubernetes", () => {
  const kustomization = read("kubernetes", "kustomization.yaml");

  test("every manifest is applied, or is one that you apply yourself", () => {
    const resources = all(kustomization, /^ {2}- (\S+\.yaml)$/gm);
    const others = ["kustomization.yaml", "prometheus-adapter.yaml", "secret.example.yaml"];
    const files = globSync("*.yaml", { cwd: join(root, "deploy", "kubernetes") });
    expect(files.sort()).toEqual([...resources, ...others].sort());
  });

  test.each(pods)("pods use the port, the user and the folders of the image", (pod) => {
    expect(one(pod, /\{ name: http, containerPort: (\d+) \}/g)).toBe(port);
    expect(one(pod, /prometheus\.io\/port: "(\d+)"/g)).toBe(port);
    expect(one(pod, /runAsUser: (\d+)/g)).toBe("1000");
    expect(dockerfile).toContain("USER node");
    const mounts = all(pod, /mountPath: (\S+) \}/g);
    expect(mounts).toContain("/tmp");
    expect(pod).toContain("readOnlyRootFilesystem: true");
    expect(mounts).toContain(dirname(String(podSettings.GANTRY_HOME)));
    for (const name of all(pod, /- \{ name: (\w+), mountPath/g)) expect(pod).toMatch(`- name: ${name}\n`);
    expect(read("kubernetes", "service.yaml")).toContain("targetPort: http");
  });

  test("the autoscaler adds a worker before the slots of the others are full", () => {
    const config = readConfig(secrets, root);
    const [jobs, runs] = all(read("kubernetes", "autoscaling.yaml"), /averageValue: "(\d+)"/g).map(Number);
    expect(jobs).toBeLessThan(config.GANTRY_WORKER_PARALLEL);
    // A node keeps a quarter of its slots for users without an active run.
    expect(runs).toBe(config.GANTRY_RUN_PARALLEL * 0.75);
  });

  test.runIf(existsSync(kubectl))("kubectl renders the manifests with one image and all settings", () => {
    const rendered = execFileSync(kubectl, ["kustomize", join(root, "deploy", "kubernetes")], { encoding: "utf8" });
    const image = `${one(kustomization, /newName: (\S+)/g)}:${one(kustomization, /newTag: "(\S+)"/g)}`;
    expect(all(rendered, /^ +image: (\S+)$/gm)).toEqual([image, image]);
    expect(new Set(all(rendered, /^kind: (\w+)$/gm))).toEqual(
      new Set(["Namespace", "ConfigMap", "Service", "Deployment", "PodDisruptionBudget", "HorizontalPodAutoscaler"]),
    );
    expect(all(rendered, /^ {2}namespace: (\w+)$/gm)).toHaveLength(
      all(rendered, /^kind: (?!Namespace)(\w+)$/gm).length,
    );
  });
});

describe("systemd", () => {
  test("the unit starts the server of a checkout, with its state in the folder that systemd creates", () => {
    const checkout = one(unit, /^WorkingDirectory=(\S+)$/gm);
    const [node = "", program = ""] = one(unit, /^ExecStart=(.*)$/gm).split(" ");
    expect(existsSync(program.replace(checkout, root)), program).toBe(true);
    expect(node).toBe(`${checkout}/node_modules/.bin/node`);
    expect(one(unit, /^Environment=GANTRY_HOME=(\S+)$/gm)).toBe(`/var/lib/${one(unit, /^StateDirectory=(\S+)$/gm)}`);
    const file = one(unit, /^EnvironmentFile=-(\S+)$/gm);
    expect(all(read("README.md"), /(\/etc\/gantry\/\S+\.env)/g).every((named) => named === file)).toBe(true);
  });

  // The first process stops its children and PostgreSQL, and starts a child again that the kernel killed.
  test("only the first process gets the signal, and a killed child does not stop the unit", () => {
    expect(one(unit, /^KillMode=(\w+)$/gm)).toBe("mixed");
    expect(one(unit, /^OOMPolicy=(\w+)$/gm)).toBe("continue");
  });

  test.runIf(existsSync(systemdAnalyze))("systemd accepts every line of the unit", async () => {
    const folder = await mkdtemp(join(tmpdir(), "gantry-unit-"));
    try {
      const file = join(folder, "gantry.service");
      await writeFile(file, unit.replace(/^ExecStart=.*$/m, "ExecStart=/bin/true").replaceAll("/opt/gantry", "/usr"));
      const { stderr } = await promisify(execFile)(systemdAnalyze, ["verify", "--man=no", file]);
      expect(stderr.split("\n").filter((line) => line.includes("gantry.service"))).toEqual([]);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
