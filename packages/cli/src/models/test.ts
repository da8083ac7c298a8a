import { parseArgs } from "node:util";
import type { ProviderTestRecord } from "@gantry/sdk";
import { orPrintError } from "../server-tools.ts";
import { accessOptions, asking, notAsked, printJson, providerAccess } from "./provider-access.ts";

export function testProvider(args: readonly string[]): Promise<number> {
  return orPrintError(async () => {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { ...accessOptions, model: { type: "string" } },
    });
    const [name, ...more] = positionals;
    if (name === undefined || more.length > 0) throw new Error("Usage: gantry models test NAME [--model ID]");
    const { providers } = await providerAccess(values);
    return asking(async () => {
      const test = await providers.test(name, { model: values.model });
      if (values.json) printJson(test);
      else printTest(test);
      return test.ok ? 0 : 1;
    });
  }, notAsked);
}

export function printTest({ ok, message, latency_ms }: ProviderTestRecord): void {
  if (!ok) console.error(message);
  else console.log(latency_ms === null ? message : `${message} (${Math.round(latency_ms)} ms)`);
}
