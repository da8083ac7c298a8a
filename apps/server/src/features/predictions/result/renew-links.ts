import { linkSeconds } from "../../files/index.ts";
import type { LinkOf } from "./result-item.ts";

/** From then on links would work for too short a time, or do so no longer. */
const renewedAfterMs = (linkSeconds * 1000) / 2;

/** What is read of a result item as a webhook's payload holds it. */
interface ToldItem {
  response: Record<string, string>;
  files: Record<string, { url: string }>;
}

/**
 * The payload of a webhook, with new links to its files where those it was made with are old: a late retry must not send
 * what its receiver cannot fetch. Everything else, and the order, stays. Links carry the address that they had, unless
 * the operator has set one.
 */
export async function renewLinks(
  { linkOf, publicUrl }: { linkOf: LinkOf; publicUrl: string | undefined },
  payload: string,
  ageMs: number,
): Promise<string> {
  if (ageMs < renewedAfterMs) return payload;
  const item: ToldItem = JSON.parse(payload);
  const links = Object.entries(item.files).map(async ([field, link]) => {
    const base = publicUrl ?? new URL(link.url).origin;
    // A file that this server's store does not have any more is no reason not to tell the rest.
    return [field, await linkOf(item.response[field] ?? "", base).catch(() => link)];
  });
  return JSON.stringify({ ...item, files: Object.fromEntries(await Promise.all(links)) });
}
