import { readdir, readFile } from "node:fs/promises";
import { expect, test } from "vitest";

const source = new URL("../src/", import.meta.url);
const textOf = (file: string, folder = source) => readFile(new URL(file, folder), "utf8");

/** The names behind `type`, or in a list of types, that a file exports from others. */
function passedOnBy(index: string): string[] {
  return [...index.matchAll(/export (type )?\{([^}]*)\}/g)].flatMap(([, areAll, names = ""]) =>
    names
      .split(",")
      .map((name) => name.trim())
      .filter((name) => name !== "" && (areAll || name.startsWith("type ")))
      .map((name) => name.replace(/^type /, "").replace(/ as .*$/, "")),
  );
}

/** What wire has for the server alone: no call or answer of a client is made of it, or the client has its own. */
const ofTheServer = [
  "AuthorizationRecord",
  "BackendType",
  "DecidedRecord",
  "ErrorForm",
  "ErrorRow",
  "FieldCheck",
  "IdKind",
  "ProtocolFileRecord",
  "ReadRunBody",
  "ReadScheduleBody",
  "ReadTriggerChange",
  "ScalarCheck",
  "SignInBody",
  "UpstreamBackend",
  "ValueProblem",
  "WebhookSecretsRecord",
];

test("every type of the wire that a program may have to name is exported", async () => {
  const exported = new Set([...passedOnBy(await textOf("index.ts")), ...ofTheServer]);
  const ofWire = passedOnBy(await textOf("../../wire/src/index.ts"));
  expect(ofWire.length).toBeGreaterThan(60);
  expect(ofWire.filter((name) => !exported.has(name))).toEqual([]);
});

/** How it is made, which no signature shows. */
const ofTheInside = ["Asked", "Frame", "Query", "ServerSentEvent", "Transport", "TransportOptions"];

test("every type of its own is exported", async () => {
  const exported = new Set([...passedOnBy(await textOf("index.ts")), ...ofTheInside]);
  const own: string[] = [];
  for (const file of await readdir(source)) {
    own.push(...[...(await textOf(file)).matchAll(/^export (?:interface|type) (\w+)/gm)].map(([, name = ""]) => name));
  }
  expect(own.length).toBeGreaterThan(60);
  expect(own.filter((name) => !exported.has(name))).toEqual([]);
});
