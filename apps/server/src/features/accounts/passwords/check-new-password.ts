import { fault, type Loc } from "../../../kernel/errors.ts";
import type { AccountsContext } from "../context.ts";
import { passwordProblem } from "./policy.rules.ts";

export function checkNewPassword(
  { signIn }: Pick<AccountsContext, "signIn">,
  password: string,
  username: string,
  loc: Loc,
): void {
  const problem = passwordProblem(password, username, signIn.minPasswordLength);
  if (problem !== undefined) throw fault("value_error", problem, { loc });
}
