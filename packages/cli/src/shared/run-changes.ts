import type { Context } from "../frame/command.ts";
import { dollarsOf } from "../frame/moment.rules.ts";
import { none } from "./limits.ts";

interface RunChanges {
  name?: string;
  max_cost?: number | null;
  approve?: string[];
  thread_id?: string | null;
  expected_price?: number | null;
}

/** What `runChanges` and `thread` change. */
export function runChangesOf({ text, texts }: Pick<Context, "text" | "texts">): RunChanges {
  const [name, most, thread, price] = [text("name"), text("max-cost"), text("thread"), text("expected-price")];
  const approve = texts("approve");
  const [max_cost, expected_price] = [dollarsOr(none, "max-cost", most), dollarsOr("any", "expected-price", price)];
  return {
    ...(name !== undefined && { name }),
    ...(max_cost !== undefined && { max_cost }),
    ...(approve.length > 0 && { approve: approve.filter((tool) => tool !== none) }),
    ...(thread !== undefined && { thread_id: thread === none ? null : thread }),
    ...(expected_price !== undefined && { expected_price }),
  };
}

const dollarsOr = (empty: string, option: string, text: string | undefined): number | null | undefined =>
  text === empty ? null : dollarsOf(option, text);
