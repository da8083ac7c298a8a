import { useQuery } from "@tanstack/react-query";
import { meQuery } from "../api/me-query.ts";
import { money } from "./format.ts";

/** The contract fixes the text of this error, so the amount comes from the account. */
export function AvailableBalance() {
  const { data } = useQuery(meQuery);
  if (!data) return null;
  const held = data.reserved > 0 ? `, and ${money(data.reserved)} is on hold` : "";
  return (
    <p className="mt-1">
      Your balance is {money(data.balance)}
      {held}.
    </p>
  );
}
