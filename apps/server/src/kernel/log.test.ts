import { expect, test } from "vitest";
import { createLog } from "./log.ts";

test("fields that may contain secrets are hidden", () => {
  let logged = "";
  const log = createLog("info", {
    write: (line: string) => {
      logged += line;
    },
  });
  const names = ["authorization", "cookie", "set-cookie", "key", "secret", "token", "password"];
  for (const name of names) log.info({ of: { [name]: "hide-me", other: "shown" } }, name);
  for (const headers of [{ cookie: "hide-me" }, ["hide-me"]]) log.info({ headers, req: { headers } }, "headers");
  expect(logged).not.toContain("hide-me");
  expect(logged.match(/"other":"shown"/g)).toHaveLength(names.length);
});
