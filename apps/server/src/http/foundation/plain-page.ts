import type { FastifyReply } from "fastify";

/** Sends the fields to the address of the page when a person presses the button. */
interface PageForm {
  button: string;
  fields: Readonly<Record<string, string | undefined>>;
}

/** Answers a browser that came from elsewhere with a page of one paragraph. */
export function sendPlainPage(
  reply: FastifyReply,
  status: number,
  title: string,
  text: string,
  form?: PageForm,
): FastifyReply {
  return reply
    .code(status)
    .type("text/html; charset=utf-8")
    .header(
      "content-security-policy",
      `default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'; form-action ${form ? "'self'" : "'none'"}`,
    )
    .header("cache-control", "no-store")
    .header("referrer-policy", "no-referrer")
    .header("x-content-type-options", "nosniff")
    .send(page(title, text, form));
}

function page(title: string, text: string, form: PageForm | undefined): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${escaped(title)}</title>
<style>body{font:16px/1.5 system-ui,sans-serif;max-width:34rem;margin:15vh auto;padding:0 1rem;overflow-wrap:anywhere}</style>
</head>
<body>
<h1>${escaped(title)}</h1>
<p>${escaped(text)}</p>${form ? formOf(form) : ""}
</body>
</html>
`;
}

function formOf({ button, fields }: PageForm): string {
  const inputs = Object.entries(fields).map(([name, value]) =>
    value === undefined ? "" : `<input type="hidden" name="${escaped(name)}" value="${escaped(value)}">`,
  );
  return `
<form method="post" action="?">${inputs.join("")}<button>${escaped(button)}</button></form>`;
}

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? "");
}
