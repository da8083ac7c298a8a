import { firstSegments, usernamePattern } from "@gantry/wire";
import type { FastifyInstance } from "fastify";
import { type Caller, everythingOf, mayAdministrate, type Scope, scopeOf } from "../../features/accounts/index.ts";
import { fault } from "../../kernel/errors.ts";
import type { RouteDeps } from "./deps.ts";
import { readExpensesQuery } from "./expenses-query.ts";
import { expensesToWire } from "./money-records.ts";

interface WithUsername {
  Params: { username: string };
}

/**
 * Where the expenses are, and what is no user's name there because the address is another route's, or nobody's: behind
 * `keys` and `secrets` the word `expenses` stands for one of them.
 */
const places = [
  { prefix: "", others: firstSegments },
  { prefix: "/api/v2", others: ["keys", "secrets"] },
];

/** What a user spent, by model. A list and nothing else: a single entry has no address. Who may not look is told so before its parameters are read. */
export function expensesRoutes(app: FastifyInstance, { billing, callerOf }: RouteDeps): void {
  async function viewable(caller: Caller, username: string): Promise<Scope> {
    if (username === caller.username) return scopeOf(caller);
    const userId = usernamePattern.test(username) ? await billing.userIdOf(username) : undefined;
    if (userId === undefined) throw fault("not_found", "User not found");
    if (caller.role !== "admin" || !mayAdministrate(caller)) {
      throw fault("forbidden", "Only the user itself and an admin may see these expenses");
    }
    return everythingOf(userId);
  }

  for (const { prefix, others } of places) {
    const list = `${prefix}/:username(^(?!(?:${others.join("|")})$).*$)/expenses`;
    app.get<WithUsername>(list, async (request) => {
      const scope = await viewable(await callerOf(request), request.params.username);
      const asked = readExpensesQuery(request.query);
      return expensesToWire(await billing.readExpenses(scope, asked), asked.page);
    });

    app.all(`${list}/:id`, {
      // Before the body: whatever it is, it changes nothing.
      onRequest: async () => {
        throw fault("method_not_allowed", "A single expense has no address of its own", { headers: { allow: "" } });
      },
      handler: async () => {},
    });
  }
}
