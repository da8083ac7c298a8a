const format = new Intl.DateTimeFormat(undefined, { timeStyle: "medium" });

export const clockTime = (moment: string): string => format.format(new Date(moment));
