import type { ConfirmationStatus, InboxConfirmation } from "@gantry/wire";
import { at } from "./address.ts";
import { eachListed, type ListRange } from "./pages.ts";
import type { CallOptions, Transport } from "./transport.ts";

export interface ConfirmationList {
  confirmations: InboxConfirmation[];
  total: number;
  limit: number;
  offset: number;
}

export interface ConfirmationFilter {
  status?: ConfirmationStatus | undefined;
}

/** Confirmations of all your runs. Answer them with `runs.confirmations`. */
export interface ConfirmationInbox {
  /** One page, newest first. */
  list(options?: ConfirmationFilter & ListRange & CallOptions): Promise<ConfirmationList>;
  /** Iterates over all entries, newest first, page by page. */
  each(options?: ConfirmationFilter & CallOptions): AsyncGenerator<InboxConfirmation>;
}

export function confirmationInbox({ json }: Transport): ConfirmationInbox {
  const inbox: ConfirmationInbox = {
    list: async ({ signal, ...query } = {}) => json({ ...at("GET /v1/confirmations"), query, signal }),
    each: (options) =>
      eachListed(
        async (range) => {
          const { confirmations: entries, total } = await inbox.list({ ...options, ...range });
          return { entries, total };
        },
        ({ id }) => id,
      ),
  };
  return inbox;
}
