import { expect, test } from "vitest";
import { settings } from "./config.ts";
import { unknownSettings } from "./unknown-settings.rules.ts";

const known = Object.keys(settings);
const told = (environment: Record<string, string>) => unknownSettings(environment, known);

test("a misspelt setting is told, with the one that is near", () => {
  for (const [given, meant] of [
    ["GANTRY_ALOW_PRIVATE_NETWORK", "GANTRY_ALLOW_PRIVATE_NETWORK"],
    ["GANTRY_HOEM", "GANTRY_HOME"],
    ["GANTRY_HOMES", "GANTRY_HOME"],
    ["GANTRY_ADMINKEY", "GANTRY_ADMIN_KEY"],
    ["GANTRY_WORKERS_PARALLEL", "GANTRY_WORKER_PARALLEL"],
    ["GANTRY_COLOUR", undefined],
  ] as const) {
    const question = meant === undefined ? "" : `: is ${meant} meant?`;
    expect(told({ [given]: "secret" })).toEqual([`${given} is no setting and has no effect${question}`]);
  }
});

test("a setting that has no GANTRY_ before it is told as it is called", () => {
  expect(told({ GANTRY_PORT: "4240", GANTRY_HOST: "0.0.0.0", GANTRY_DATABASE_URL: "x" })).toEqual([
    "GANTRY_PORT is no setting and has no effect: is PORT meant?",
    "GANTRY_HOST is no setting and has no effect: is HOST meant?",
    "GANTRY_DATABASE_URL is no setting and has no effect: is DATABASE_URL meant?",
  ]);
});

test("nothing is said of settings, of others' variables, of empty ones, and of what Kubernetes adds", () => {
  expect(told(Object.fromEntries(known.map((name) => [name, "x"])))).toEqual([]);
  expect(told({ GANTRY_URL: "x", GANTRY_KEY: "x", PATH: "/bin", PROT: "1", GANTRY_NOTHING: " " })).toEqual([]);
  expect(
    told({
      GANTRY_PORT: "tcp://10.0.0.1:8080",
      GANTRY_SERVICE_HOST: "10.0.0.1",
      GANTRY_API_SERVICE_PORT_HTTP: "8080",
      GANTRY_PORT_8080_TCP_ADDR: "10.0.0.1",
    }),
  ).toEqual([]);
});
