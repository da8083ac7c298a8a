import type { ProviderTestRecord } from "@gantry/sdk";
import type { Context } from "../frame/command.ts";
import { seconds } from "../frame/format.rules.ts";
import type { Output } from "../frame/output.ts";
import { providerAccess } from "./provider-access.ts";

export async function testProvider(context: Context): Promise<number> {
  const {
    words: [name = ""],
    text,
    flag,
    out,
    signal,
  } = context;
  const { providers } = await providerAccess(context);
  const test = await providers.test(name, { model: text("model"), signal });
  if (flag("json")) out.json(test);
  else printTest(out, test);
  return test.ok ? 0 : 1;
}

export function printTest(out: Output, { ok, message, latency_ms }: ProviderTestRecord): void {
  if (!ok) out.note(message);
  else out.line(latency_ms === null ? message : `${message} (${seconds(latency_ms / 1000)})`);
}
