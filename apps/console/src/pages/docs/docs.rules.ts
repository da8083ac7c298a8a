const start = "start";

/** `../../../../../docs/guides/agents.md` as `guides/agents`. */
export const slugOf = (file: string): string => file.replace(/^.*?\/docs\//, "").replace(/(?:\/?README)?\.md$/, "");

/** The page of an address; the address without a page shows the first one. */
export const slugIn = (splat: string | undefined): string => splat?.replace(/\/$/, "") || start;

/** The title in the first line, and the rest. */
export function documentOf(text: string): { title: string; body: string } {
  const [, title = "Documentation", body = text] = /^# (.+)\n([\s\S]*)$/.exec(text) ?? [];
  return { title, body };
}

/** The title of a page, after the folder that it is in within its chapter: "Models: LM Studio". */
export function nameInMenu(slug: string, title: string): string {
  const [, folder = "", page] = slug.split("/");
  return page === undefined ? title : `${folder.charAt(0).toUpperCase()}${folder.slice(1)}: ${title}`;
}

/** `../../../../../docs/guides/agents.md` as `guides/agents.md`, the start of relative links. */
export const fileOf = (path: string): string => path.replace(/^.*?\/docs\//, "");

/** Where a link of a page leads within the documentation; undefined for other files and other sites. */
export function linkedSlug(href: string, from: string): string | undefined {
  const base = "http://docs.invalid/";
  const { origin, pathname } = new URL(href, `${base}${from}`);
  if (`${origin}/` !== base || !pathname.endsWith(".md")) return undefined;
  return slugOf(`/docs${decodeURIComponent(pathname)}`);
}

/** The source says "guides/agents.md" and the console needs an address of its own. Links to unknown files become text. */
export function withConsoleLinks(body: string, from: string, addressOf: (slug: string) => string | undefined): string {
  return body.replace(/(!?)\[([^\][]*)\]\(([^()\s]+)\)/g, (whole, picture: string, label: string, href: string) => {
    if (/^[a-z]+:/.test(href)) return whole;
    const slug = linkedSlug(href, from);
    const address = slug === undefined ? undefined : addressOf(slug);
    if (address === undefined) return picture ? "" : label;
    return `[${label}](${address})`;
  });
}
