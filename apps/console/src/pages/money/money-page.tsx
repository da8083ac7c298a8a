import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { api } from "../../api/client.ts";
import { meQuery } from "../../api/me-query.ts";
import { mayOpen, seesOwnUsageOnly } from "../../shell/key-access.rules.ts";
import { KeyLimitNotice } from "../../shell/key-limit-notice.tsx";
import { useSession } from "../../shell/session.ts";
import { type ChartRange, rangeText } from "../../ui/chart/range.rules.ts";
import { SeriesPanel } from "../../ui/chart/series-panel.tsx";
import { type DayRange, dayRange, momentsOf } from "../../ui/day-range.rules.ts";
import { DayRangePicker } from "../../ui/day-range-picker.tsx";
import { Figure } from "../../ui/figure.tsx";
import { money } from "../../ui/format.ts";
import { Empty, Loaded, Notice } from "../../ui/notice.tsx";
import { Page, Panel } from "../../ui/page.tsx";
import { type OnPage, PagedTable } from "../../ui/paged.tsx";
import { NoticeSettings } from "../notices/notice-settings.tsx";
import { ledgerColumns } from "./ledger-columns.tsx";
import { SpendingByModel } from "./spending-by-model.tsx";
import { spendingRange } from "./spending-range.rules.ts";

export function MoneyPage() {
  const search = useSearch({ from: "/app/money" });
  const navigate = useNavigate();
  const range = dayRange({ ...search });
  const { key } = useSession();
  const seesWallet = !seesOwnUsageOnly(key);
  return (
    <Page
      title="Money"
      lead={
        seesWallet
          ? "Balance, spending by model and all transactions."
          : key.isPlainMember
            ? "Balance of the team, and your own spending. Its admins and owners see all transactions."
            : "Balance and spending of this key. Keys limited to certain models can't see other transactions."
      }
    >
      <KeyLimitNotice />
      <Wallet />
      <DayRangePicker range={range} onRange={(wanted) => void navigate({ to: "/money", search: wanted })} />
      <SpendingChart range={spendingRange(range, Date.now(), seesWallet)} />
      <SpendingByModel
        range={range}
        page={search.models ?? 1}
        onPage={(models, how) => void navigate({ to: "/money", search: { ...search, models }, ...how })}
      />
      {seesWallet && (
        <Transactions
          range={range}
          page={search.page ?? 1}
          onPage={(page, how) => void navigate({ to: "/money", search: { ...search, page }, ...how })}
        />
      )}
      {mayOpen(key, "managers") && <NoticeSettings />}
    </Page>
  );
}

function SpendingChart({ range }: { range: ChartRange }) {
  return (
    <SeriesPanel
      title="Spending"
      of={{ metric: "spend", group_by: "model" }}
      range={range}
      actions={<p className="text-muted first-letter:uppercase">{rangeText(range)}</p>}
      empty="Nothing spent in this range"
    />
  );
}

function Wallet() {
  const me = useQuery(meQuery);
  return (
    <Loaded query={me}>
      {({ balance, reserved }) => (
        <>
          {balance < 0 && (
            <Notice tone="warn" title="Your balance is negative">
              Paid requests are refused until an admin adds credit.
            </Notice>
          )}
          <dl className="grid gap-4 sm:grid-cols-3">
            <Figure name="Balance" value={money(balance)} />
            <Figure
              name="On hold"
              value={money(reserved)}
              note="Held for queued and running work; the rest is released."
            />
            <Figure name="Available" value={money(balance - reserved)} />
          </dl>
        </>
      )}
    </Loaded>
  );
}

function Transactions({ range, page, onPage }: { range: DayRange; page: number; onPage: OnPage }) {
  const entries = useQuery({
    queryKey: ["ledger", "page", { ...range, page }],
    queryFn: ({ signal }) => {
      const { first: from_date, last: to_date } = momentsOf(range);
      return api.account.ledger({ from_date, to_date, page, signal });
    },
    placeholderData: keepPreviousData,
  });
  return (
    <Panel title="Transactions" flush>
      <PagedTable
        label="Transactions"
        query={entries}
        keyOf={({ id }) => String(id)}
        columns={ledgerColumns({ own: true })}
        onPage={onPage}
        empty={<Empty title="No transactions in this range">Choose another range, or ask an admin for credit.</Empty>}
      />
    </Panel>
  );
}
