import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { passLines } from "./pass-lines.ts";

test("lines of two sources that arrive in pieces are not mixed", async () => {
  const [a, b, to] = [new PassThrough(), new PassThrough(), new PassThrough()];
  passLines(a, to);
  passLines(b, to);
  const said = to.setEncoding("utf8").toArray();
  const steps: [PassThrough, string][] = [
    [a, "a1 ä".slice(0, 2)],
    [b, "b1\nb2"],
    [a, " rest\na2\n"],
    [b, " rest"],
  ];
  for (const [from, text] of steps) {
    from.write(text);
    await new Promise(setImmediate);
  }
  a.end();
  b.end();
  await new Promise(setImmediate);
  to.end();
  expect((await said).join("")).toBe("b1\na1 rest\na2\nb2 rest\n");
});
