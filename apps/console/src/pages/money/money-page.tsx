import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { api } from "../../api/client.ts";
import { meQuery } from "../../api/me-query.ts";
import { KeyLimitNotice } from "../../shell/key-limit-notice.tsx";
import { mayOpen } from "../../shell/key-reach.rules.ts";
import { useSession } from "../../shell/session.ts";
import { type DayRange, dayRange, momentsOf } from "../../ui/day-range.rules.ts";
import { DayRangePicker } from "../../ui/day-range-picker.tsx";
import { Figure } from "../../ui/figure.tsx";
import { money } from "../../ui/format.ts";
import { Empty, Loaded, Notice } from "../../ui/notice.tsx";
import { Page, Panel } from "../../ui/page.tsx";
import { type OnPage, PagedTable } from "../../ui/paged.tsx";
import { ledgerColumns } from "./ledger-columns.tsx";
import { SpentByModel } from "./spent-by-model.tsx";

export function MoneyPage() {
  const search = useSearch({ from: "/app/money" });
  const navigate = useNavigate();
  const range = dayRange({ ...search });
  const seesWallet = mayOpen(useSession().key, "unconfined keys");
  return (
    <Page
      title="Money"
      lead={
        seesWallet
          ? "What you have, what it went to, and every movement of your wallet."
          : "The balance, and what this key spent. It is limited to models, so it does not see other movements of the wallet."
      }
    >
      <KeyLimitNotice />
      <Wallet />
      <DayRangePicker range={range} onRange={(wanted) => void navigate({ to: "/money", search: wanted })} />
      <SpentByModel
        range={range}
        page={search.models ?? 1}
        onPage={(models, how) => void navigate({ to: "/money", search: { ...search, models }, ...how })}
      />
      {seesWallet && (
        <Movements
          range={range}
          page={search.page ?? 1}
          onPage={(page, how) => void navigate({ to: "/money", search: { ...search, page }, ...how })}
        />
      )}
    </Page>
  );
}

function Wallet() {
  const me = useQuery(meQuery);
  return (
    <Loaded query={me}>
      {({ balance, reserved }) => (
        <>
          {balance < 0 && (
            <Notice tone="warn" title="Your balance is below zero">
              Nothing that costs something is accepted until an admin adds to it.
            </Notice>
          )}
          <dl className="grid gap-4 sm:grid-cols-3">
            <Figure name="Balance" value={money(balance)} />
            <Figure
              name="Reserved"
              value={money(reserved)}
              note="For what runs or waits; what is not used comes back."
            />
            <Figure name="Free to spend" value={money(balance - reserved)} />
          </dl>
        </>
      )}
    </Loaded>
  );
}

function Movements({ range, page, onPage }: { range: DayRange; page: number; onPage: OnPage }) {
  const entries = useQuery({
    queryKey: ["ledger", "page", { ...range, page }],
    queryFn: ({ signal }) => {
      const { first: from_date, last: to_date } = momentsOf(range);
      return api.account.ledger({ from_date, to_date, page, signal });
    },
    placeholderData: keepPreviousData,
  });
  return (
    <Panel title="Movements" flush>
      <PagedTable
        label="Movements"
        query={entries}
        keyOf={({ id }) => String(id)}
        columns={ledgerColumns({ own: true })}
        onPage={onPage}
        empty={<Empty title="Nothing moved in this range">Money comes from an admin and goes to what you run.</Empty>}
      />
    </Panel>
  );
}
