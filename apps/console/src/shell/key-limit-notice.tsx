import { Notice } from "../ui/notice.tsx";
import { numbersOf } from "./key-access.rules.ts";
import { useSession } from "./session.ts";

export function KeyLimitNotice() {
  const { key } = useSession();
  const limits = numbersOf(key);
  if (limits.length === 0) return null;
  return (
    <Notice title={`Key "${key.name}" has a limit`}>
      With this key you can use at most {limits.join(" and ")}, whatever your balance.
    </Notice>
  );
}
