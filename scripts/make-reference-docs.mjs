/**
 * Writes the tables of docs/reference from the code. A test fails if a page is not current.
 * Run it with Node 24: node_modules/.bin/node scripts/make-reference-docs.mjs
 */
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { settings } from "../apps/server/src/config/config.ts";
import { describedGauges } from "../apps/server/src/engines/telemetry/gauges.ts";
import { createMeasures } from "../apps/server/src/engines/telemetry/measures.ts";
import { runErrors } from "../apps/server/src/http/docs-pages/errors-page.ts";
import { commands } from "../packages/cli/src/commands.ts";
import { groups } from "../packages/cli/src/frame/command.ts";
import { usualCodes } from "../packages/cli/src/frame/help.ts";
import { shownOption, usageOf } from "../packages/cli/src/frame/usage.rules.ts";
import { agentErrors } from "../packages/wire/src/agent-errors.ts";
import { errorTable } from "../packages/wire/src/error-table.ts";
import { accountDocument, agentsDocument, doorsDocument, modelsDocument } from "../packages/wire/src/openapi/index.ts";

/** Metrics of Gantry; those of the process come from a library under their usual names. */
export const metrics = [...createMeasures().described, ...describedGauges()];

const code = (text) => `\`${text}\``;
const row = (cells) => `| ${cells.map((cell) => String(cell).replaceAll("|", "\\|")).join(" | ")} |`;
const table = (head, rows) => [row(head), `|${"---|".repeat(head.length)}`, ...rows.map(row)].join("\n");

const statusOf = ({ status, insideOf }) =>
  insideOf === undefined ? status : `${insideOf}, with ${status} in the body`;

/** Routes of an API, from its OpenAPI document. */
const routes = (documentOf) => {
  const { paths, servers } = documentOf("", "");
  return table(
    ["route", "use"],
    Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { summary }]) => [
        code(`${method.toUpperCase()} ${servers[0].url}${path === "/" ? "" : path}`),
        summary,
      ]),
    ),
  );
};

const block = (lines) => ["```text", ...lines, "```"].join("\n");

/** A command as `gantry help` explains it. */
const commandSection = (command) => {
  const { name, summary, details, arguments: all = [], options = {}, examples, codes = {} } = command;
  const named = [
    ...all.map((one) => [code(one.name), one.meaning]),
    ...Object.entries(options).map(([option, row]) => [
      code(shownOption(option, row)),
      row.choices && row.value !== undefined ? `${row.meaning} One of: ${row.choices.join(", ")}.` : row.meaning,
    ]),
  ];
  return [
    `### gantry ${name}`,
    block([usageOf(command)]),
    details === undefined ? summary : `${summary} ${details}`,
    ...(named.length > 0 ? [table(["argument or option", "meaning"], named)] : []),
    block(examples.flatMap(({ line, meaning }) => [`# ${meaning}`, `gantry ${line}`])),
    ...(Object.keys(codes).length > 0
      ? [
          `Exit codes: ${Object.entries({ ...usualCodes, ...codes })
            .map(([n, meaning]) => `${n} ${meaning.charAt(0).toLowerCase()}${meaning.slice(1, -1)}`)
            .join("; ")}.`,
        ]
      : []),
  ].join("\n\n");
};

const tables = {
  commands: () =>
    Object.entries(groups)
      .map(([group, title]) => [title, commands.filter((one) => one.group === group && !one.hidden)])
      .filter(([, members]) => members.length > 0)
      .map(([title, members]) => [`## ${title}`, ...members.map(commandSection)].join("\n\n"))
      .join("\n\n"),
  settings: () =>
    table(
      ["setting", "default", "description", "values"],
      Object.entries(settings).map(([name, { shown, meaning, takes = "any text" }]) => [
        code(name),
        shown,
        meaning,
        takes,
      ]),
    ),
  metrics: () =>
    table(
      ["metric", "type", "labels", "description"],
      metrics.map(({ name, type, labelNames, help }) => [code(name), type, labelNames.join(", "), help]),
    ),
  errors: () =>
    table(
      ["type", "status", "retryable", "`ctx`", "description"],
      Object.entries(errorTable).map(([type, error]) => [
        code(type),
        statusOf(error),
        error.retryable ? "yes" : "no",
        error.ctx.map(code).join(", "),
        error.meaning,
      ]),
    ),
  "agent errors": () =>
    table(
      ["type", "status"],
      Object.entries(agentErrors).map(([type, status]) => [code(type), status]),
    ),
  "run errors": () =>
    table(
      ["type", "description"],
      Object.entries(runErrors).map(([type, meaning]) => [code(type), meaning]),
    ),
  "model routes": () => routes(modelsDocument),
  "account routes": () => routes(accountDocument),
  "agent routes": () => routes(agentsDocument),
  "door routes": () => routes(doorsDocument),
};

const pages = {
  command: ["commands"],
  settings: ["settings"],
  metrics: ["metrics"],
  errors: ["errors", "agent errors", "run errors"],
  api: ["model routes", "account routes", "agent routes", "door routes"],
};

/** Each page with its tables as the code has them now. */
export const references = Object.entries(pages).map(([name, contained]) => {
  const path = fileURLToPath(new URL(`../docs/reference/${name}.md`, import.meta.url));
  let page = readFileSync(path, "utf8");
  const found = page;
  for (const one of contained) {
    const [begin, end] = [`<!-- ${one}: generated by scripts/make-reference-docs.mjs -->`, `<!-- end of ${one} -->`];
    const [from, until] = [page.indexOf(begin), page.indexOf(end)];
    if (from === -1 || until < from) throw new Error(`${path} does not have the markers of the table ${one}`);
    page = `${page.slice(0, from + begin.length)}\n\n${tables[one]()}\n\n${page.slice(until)}`;
  }
  return { name, path, found, current: page };
});

if (process.argv[1] === fileURLToPath(import.meta.url))
  for (const { path, current } of references) writeFileSync(path, current);
