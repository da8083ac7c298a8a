import { expect, test } from "vitest";
import { secretIn } from "./secret-offer.rules.ts";

test("a secret is offered only at the end of a result", () => {
  const offered =
    "{}\n\nThe whole value of client_secret (it ends in ab12) is shown once, to the person who started the run: GET /v1/runs/run_1/secrets/sec_2";
  expect(secretIn(offered)).toEqual({ runId: "run_1", secretId: "sec_2", field: "client_secret" });
  expect(secretIn(`${offered}\nand more`)).toBeUndefined();
  expect(secretIn("GET /v1/runs/run_1/secrets/sec_2")).toBeUndefined();
});
