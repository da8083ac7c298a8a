import { agentErrors, type ErrorRow, errorTable, type RunErrorType } from "@gantry/wire";

export const runErrors: Record<RunErrorType, string> = {
  tool_error: "The same tool call failed three times in a row",
  timeout: "The run exceeded its time limit",
  internal: "The model could not be called, or the server failed",
  cancelled: "The run was cancelled",
  limit_exceeded: "The run reached a limit: steps, cost, depth or size of its history",
  insufficient_funds: "The balance does not cover the next call",
  invalid_input: "The input of the run cannot be used",
};

const forms: Record<ErrorRow["form"], string> = {
  list: '<code>{"detail": [{"loc", "msg", "type", "url", "ctx", "input"}]}</code>',
  text: '<code>{"detail": "…", "status_code": …}</code>',
  typed: '<code>{"detail": "…", "status_code": …, "type": "…"}</code>',
  key: '<code>{"error": {"code", "message"}}</code>',
};
const agentsForm = '<code>{"error": {"type", "code", "message", "details"}}</code>';

/** The page that the `url` of every error links to, with one section for each type. */
export function errorsPage(): string {
  const sections = Object.entries(errorTable)
    .map(([type, row]) => section(type, row))
    .join("\n");
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Gantry: error types</title>
<style>
  body { font: 16px/1.55 system-ui, sans-serif; max-width: 46rem; margin: 2rem auto; padding: 0 1rem; color: #1c2430; background: #fbfaf7; }
  h1 { font-size: 1.6rem } h2 { font: 600 1.05rem ui-monospace, monospace; margin: 0 }
  section { padding: .9rem 1rem; border-top: 1px solid #e2ded4 } section:target { background: #fff3c9 }
  dl { display: grid; grid-template-columns: max-content 1fr; gap: .1rem .9rem; margin: .3rem 0 0; font-size: .92rem }
  dt { color: #6a7080 } dd { margin: 0 } code { font: .92em ui-monospace, monospace } p { margin: .3rem 0 }
</style>
</head>
<body>
<h1>Error types</h1>
<p>Decide by the status and the <code>type</code>, never by the message. The response header
<code>X-Service-Retryable</code> says whether the same request may succeed later; the values below are the defaults.
Failed predictions cost nothing. The agents platform under <code>/v1</code> has <a href="#agents">separate types</a>.</p>
${sections}
<h1 id="agents">Errors of the agents platform</h1>
<p>Errors under <code>/v1</code> are ${agentsForm}:</p>
<dl>
${rows(agentErrors)}
</dl>
<p>A failed run has <code>{"type", "message"}</code> in its field <code>error</code>:</p>
<dl>
${rows(runErrors)}
</dl>
</body>
</html>
`;
}

function rows(table: Readonly<Record<string, string | number>>): string {
  return Object.entries(table)
    .map(([type, value]) => `<dt><code>${type}</code></dt><dd>${value}</dd>`)
    .join("\n");
}

function section(type: string, row: ErrorRow): string {
  const ctx = row.ctx.length > 0 ? row.ctx.map((key) => `<code>${key}</code>`).join(", ") : "none";
  const status = row.insideOf === undefined ? row.status : `${row.insideOf}, with ${row.status} in the body`;
  return `<section id="${type}"><h2>${type}</h2><p>${row.meaning}</p><dl>
<dt>Status</dt><dd>${status}</dd><dt>Retryable</dt><dd>${row.retryable ? "yes" : "no"}</dd>
<dt>ctx</dt><dd>${ctx}</dd><dt>Body</dt><dd>${bodiesOf(type, row)}</dd></dl></section>`;
}

function bodiesOf(type: string, row: ErrorRow): string {
  if (row.isOfAgents) return agentsForm;
  return type in agentErrors ? `${forms[row.form]}; under <code>/v1</code> ${agentsForm}` : forms[row.form];
}
