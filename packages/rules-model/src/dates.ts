const dayMs = 86_400_000;
const weekdays = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const unitDays: Record<string, number> = { day: 1, week: 7 };

/** Answers questions about dates in the text. Today's date is unknown. */
export function dateAnswer(
  text: string,
  dates: readonly string[],
): { text: string; value: string | number } | undefined {
  const [first, second] = dates.map((date) => Date.parse(`${date.slice(0, 10)}T00:00:00Z`));
  if (first === undefined || Number.isNaN(first)) return undefined;
  if (
    second !== undefined &&
    !Number.isNaN(second) &&
    /\b(days?|weeks?|between|until|from|since|difference)\b/i.test(text)
  ) {
    const days = Math.abs(second - first) / dayMs;
    return { text: `There are ${days} days between ${day(first)} and ${day(second)}.`, value: days };
  }
  if (/\b(which|what) (day|weekday)|day of the week|weekday\b/i.test(text)) {
    const name = weekdays[new Date(first).getUTCDay()] ?? "";
    return { text: `${day(first)} is a ${name}.`, value: name };
  }
  const move =
    /(\d{1,6})\s+(day|week|month|year)s?\s+(after|from|before|later|earlier)|(add|subtract)\s+(\d{1,6})\s+(day|week|month|year)/i.exec(
      text,
    );
  if (!move) return undefined;
  const amount = Number(move[1] ?? move[5]);
  const unit = (move[2] ?? move[6] ?? "day").toLowerCase();
  const back = /before|earlier|subtract/i.test(move[3] ?? move[4] ?? "");
  const moved = shifted(first, back ? -amount : amount, unit);
  if (moved === undefined) return undefined;
  return {
    text: `${amount} ${unit}${amount === 1 ? "" : "s"} ${back ? "before" : "after"} ${day(first)} is ${moved}.`,
    value: moved,
  };
}

function shifted(from: number, amount: number, unit: string): string | undefined {
  const date = new Date(from);
  const days = unitDays[unit];
  if (days !== undefined) date.setUTCDate(date.getUTCDate() + amount * days);
  else if (unit === "month") date.setUTCMonth(date.getUTCMonth() + amount);
  else date.setUTCFullYear(date.getUTCFullYear() + amount);
  return Number.isNaN(date.getTime()) ? undefined : day(date.getTime());
}

function day(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}
