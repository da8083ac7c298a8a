const format = new Intl.DateTimeFormat(undefined, { timeStyle: "medium" });

/** Within a log the day is known, and seconds count. */
export const clockTime = (moment: string): string => format.format(new Date(moment));
