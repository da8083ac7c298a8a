import type { MouseEvent } from "react";

const controls = "a, button, input, select, textarea, label, summary";

/**
 * Follows the link of a row. The link itself serves the keyboard and screen readers; text in the row can still be
 * selected, and buttons in it keep their own clicks.
 */
export function followRowLink(event: MouseEvent<HTMLElement>): void {
  const { currentTarget: row, target, button, ctrlKey, metaKey, shiftKey } = event;
  // React also bubbles clicks of dialogs that a cell has opened elsewhere in the document.
  if (!(target instanceof Element) || !row.contains(target) || target.closest(controls)) return;
  if (button > 1 || !getSelection()?.isCollapsed) return;
  const link = row.querySelector<HTMLElement>("[data-row-link]");
  if (link instanceof HTMLAnchorElement && (button === 1 || ctrlKey || metaKey || shiftKey)) {
    open(link.href, "_blank", "noopener");
  } else link?.click();
}
