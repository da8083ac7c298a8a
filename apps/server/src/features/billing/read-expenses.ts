import type { Database } from "../../engines/database/database.ts";
import { fault } from "../../kernel/errors.ts";
import type { Scope } from "../accounts/index.ts";
import { type ExpenseSums, expensesOfKey, expensesOfUser, sumExpenses } from "./expenses-store.ts";
import { type Moment, momentOfMicros } from "./moment.rules.ts";
import { cutTime, spanOf, withinRows, withinSums } from "./time-cut.rules.ts";
import { readFromOneSnapshot, selectMarks } from "./time-store.ts";

export interface ExpensesRequest {
  /** Undefined is 7 days before now. */
  start: Moment | undefined;
  /** Undefined is now. */
  end: Moment | undefined;
  page: number;
}

export interface Expenses extends ExpenseSums {
  start: Moment;
  end: Moment;
  totalPages: number;
}

const pageSize = 10;
const defaultRange = 7 * 86_400_000_000;

/**
 * What a user, or one key, spent in a time, model by model. Exact to the millionth: whole days and hours of a user come
 * from their sums, the rest from the rows.
 */
export async function readExpenses(database: Database, scope: Scope, request: ExpensesRequest): Promise<Expenses> {
  return database.transaction(async (tx) => {
    const [, marks] = await Promise.all([readFromOneSnapshot(tx), selectMarks(tx, scope.userId)]);
    const end = request.end ?? momentOfMicros(marks.now);
    const start = request.start ?? momentOfMicros(marks.now - defaultRange);
    if (start > end) {
      const why = request.start === undefined ? ": without start_date the time begins 7 days before now" : "";
      throw fault("invalid_parameters", `start_date must not be after end_date${why}`, {
        loc: ["query", "start_date"],
      });
    }
    const asked = spanOf({ from: start, to: end }, marks.now);
    const pieces =
      scope.onlyKeyId === null
        ? expensesOfUser(tx, scope.userId, cutTime(withinSums(asked, marks), marks))
        : expensesOfKey(tx, scope, withinRows(asked, marks));
    const offset = Math.min((request.page - 1) * pageSize, Number.MAX_SAFE_INTEGER);
    const sums = await sumExpenses(tx, pieces, { limit: pageSize, offset });
    return { ...sums, start, end, totalPages: Math.ceil(sums.totalModels / pageSize) };
  });
}
