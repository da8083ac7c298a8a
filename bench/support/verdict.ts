/** Checks one line of the budget. A failure makes the benchmark exit with 1. */
export function verdict(what: string, figure: number, compare: "at least" | "at most", bound: number, unit = ""): void {
  const isWithin = compare === "at least" ? figure >= bound : figure <= bound;
  const shown = Number.isInteger(figure) ? String(figure) : figure.toFixed(2);
  console.log(
    `  ${isWithin ? "ok   " : "BELOW"} ${what}: ${shown}${unit} ${isWithin ? "is within" : "IS OUT OF"} the budget of ${compare} ${bound}${unit}`,
  );
  if (!isWithin) process.exitCode = 1;
}
