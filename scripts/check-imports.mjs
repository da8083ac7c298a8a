/**
 * Runs dependency-cruiser over the source and fails when a rule of `.dependency-cruiser.mjs` is broken, and also when
 * it saw suspiciously few modules: a parser that silently reads nothing would otherwise pass for ever.
 */
import { cruise } from "dependency-cruiser";
import config from "../.dependency-cruiser.mjs";

const { output } = await cruise(["apps/server/src", "apps/console/src", "packages"], {
  ...config.options,
  ruleSet: config,
  validate: true,
});
const { violations, totalCruised, totalDependenciesCruised } = output.summary;
for (const { rule, from, to, cycle } of violations) {
  const path = cycle ? ` (${[from, ...cycle.map((step) => step.name)].join(" → ")})` : "";
  console.error(`${rule.severity} ${rule.name}: ${from} → ${to}${path}`);
}
if (totalCruised < 20 || totalDependenciesCruised < 20) {
  console.error(
    `The import check saw only ${totalCruised} modules and ${totalDependenciesCruised} imports: it is not reading the code.`,
  );
  process.exit(1);
}
if (violations.length > 0) process.exit(1);
console.error(`Import rules hold over ${totalCruised} modules and ${totalDependenciesCruised} imports.`);
