let title = "";
let waiting = 0;

function show(): void {
  document.title = `${waiting > 0 ? `(${waiting}) ` : ""}${title === "" ? "" : `${title} · `}Gantry`;
}

export function showTitle(text: string): void {
  title = text;
  show();
}

/** A number before the title, visible in the tab of the browser. */
export function showTitleCount(count: number): void {
  waiting = count;
  show();
}
