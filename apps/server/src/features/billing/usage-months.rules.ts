/** A month of UTC and the partition of `usage` that holds it. */
export interface UsageMonth {
  table: string;
  /** Its first moment, and that of the month after it. */
  from: Date;
  to: Date;
}

const tableForm = /^usage_(\d{4})_(\d\d)$/;

export function monthOf(time: Date, monthsLater = 0): UsageMonth {
  const from = new Date(Date.UTC(time.getUTCFullYear(), time.getUTCMonth() + monthsLater));
  const to = new Date(Date.UTC(time.getUTCFullYear(), time.getUTCMonth() + monthsLater + 1));
  return { table: `usage_${from.toISOString().slice(0, 7).replace("-", "_")}`, from, to };
}

/** Undefined for a table that holds no month, as the default partition. */
export function monthOfTable(table: string): UsageMonth | undefined {
  const match = tableForm.exec(table);
  return match ? monthOf(new Date(Date.UTC(Number(match[1]), Number(match[2]) - 1))) : undefined;
}

/** From the month of one time to that of another, both among them. */
export function monthsBetween(first: Date, last: Date): UsageMonth[] {
  const months: UsageMonth[] = [];
  for (let month = monthOf(first); month.from <= last; month = monthOf(month.to)) months.push(month);
  return months;
}
