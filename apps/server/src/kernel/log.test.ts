import { expect, test } from "vitest";
import { createLog } from "./log.ts";

test("what could hold a secret is hidden, whatever is logged with it", () => {
  let logged = "";
  const log = createLog("info", {
    write: (line: string) => {
      logged += line;
    },
  });
  const names = ["authorization", "cookie", "set-cookie", "key", "secret", "token", "password"];
  for (const name of names) log.info({ of: { [name]: "tell-nobody", other: "shown" } }, name);
  for (const headers of [{ cookie: "tell-nobody" }, ["tell-nobody"]])
    log.info({ headers, req: { headers } }, "headers");
  expect(logged).not.toContain("tell-nobody");
  expect(logged.match(/"other":"shown"/g)).toHaveLength(names.length);
});
