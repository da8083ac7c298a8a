import { globSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const checkout = fileURLToPath(new URL("../../../..", import.meta.url));
const files = globSync("{apps,packages}/**/*.{test,contract}.ts", {
  cwd: checkout,
  exclude: (name) => name === "node_modules" || name === "dist",
}).filter((file) => !file.endsWith("figures.test.ts"));

/** A busy machine takes many times as long for the same work. */
const leastBoundMs = 5_000;

function linesOf(pattern: RegExp, isFault: (match: RegExpExecArray) => boolean = () => true): string[] {
  return files.flatMap((file) =>
    readFileSync(`${checkout}/${file}`, "utf8")
      .split("\n")
      .flatMap((line, at) => {
        const match = pattern.exec(line);
        return match && isFault(match) ? [`${file}:${at + 1} ${line.trim()}`] : [];
      }),
  );
}

test("tests do not measure processor time, resident memory, collections or delays: those belong to bench/", () => {
  expect(files.length).toBeGreaterThan(400);
  expect(linesOf(/cpuUsage|resourceUsage|\.rss\b|\brss[,:} ]|VmRSS|trace-gc|monitorEventLoopDelay|loadavg/)).toEqual(
    [],
  );
});

test("a bound on elapsed time is one that only a fault exceeds", () => {
  const elapsed = /expect\((?:await (?:timed|took)\(|performance\.now\(\) -|Date\.now\(\) -).*toBeLessThan\(([\d_]+)\)/;
  expect(linesOf(elapsed, ([, bound = ""]) => Number(bound.replaceAll("_", "")) < leastBoundMs)).toEqual([]);
});
