import { money } from "../ui/format.ts";
import { Notice } from "../ui/notice.tsx";
import { useSession } from "./session.ts";

/** Where money is shown: with some keys not all of it can be spent. */
export function KeyLimitNotice() {
  const { name, monthly_limit } = useSession().key;
  if (monthly_limit === null) return null;
  return (
    <Notice title={`The key ${name} has a monthly limit of its own`}>
      Signed in with it you spend at most {money(monthly_limit)} a month, whatever the balance is.
    </Notice>
  );
}
