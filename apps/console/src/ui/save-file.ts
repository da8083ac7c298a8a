/** Lets the browser keep something that was read, as if by a link to it. */
export function saveFile(content: Blob, name: string): void {
  const url = URL.createObjectURL(content);
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  // Not at once: the browser begins to read it only after this turn.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
