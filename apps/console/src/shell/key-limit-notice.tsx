import { money } from "../ui/format.ts";
import { Notice } from "../ui/notice.tsx";
import { useSession } from "./session.ts";

export function KeyLimitNotice() {
  const { name, monthly_limit } = useSession().key;
  if (monthly_limit === null) return null;
  return (
    <Notice title={`Key "${name}" has a monthly limit`}>
      With this key you can spend at most {money(monthly_limit)} per month, whatever your balance.
    </Notice>
  );
}
