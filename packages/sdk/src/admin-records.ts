/** Whether the books are right: they are when nothing is listed. */
export interface BooksRecord {
  accounts: number;
  /** In dollars, over all accounts. */
  sum: number;
  discrepancies: { rule: string; subject: string; expected: number | null; found: number | null }[];
}

/** A wallet after money was added or taken away, and the entry of the ledger. In dollars. */
export interface CreditRecord {
  balance: number;
  currency: "USD";
  entry: { id: number; amount: number; reason: string; created_at: string };
}

export interface Turnover {
  requests: number;
  paid_requests: number;
  /** Dollars. */
  spent: number;
}

/** The whole installation on one page. Money in dollars. */
export interface OverviewRecord {
  users: { total: number; disabled: number; admins: number; below_zero: number };
  models: { total: number; public: number; private: number; inactive: number };
  predictions: { running: number; waiting: number };
  nodes: number;
  today: Turnover;
  last_7_days: Turnover;
  top_models: { model_name: string; requests: number; spent: number }[];
  /** `sum` is that of all sides of the ledger: anything but 0 means that the books are wrong. */
  books: { balances: number; reserved: number; platform: number; outside: number; sum: number };
  currency: "USD";
}
