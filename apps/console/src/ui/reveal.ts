/** A tab overlaps the border of its list by a pixel. */
const beyond = (by: number): number => (by > 2 ? by : 0);

/** Scrolls a container, and nothing else, until an element in it can be seen. */
export function reveal(container: Element, element: Element): void {
  const [outer, inner] = [container.getBoundingClientRect(), element.getBoundingClientRect()];
  container.scrollLeft += beyond(inner.right - outer.right) - beyond(outer.left - inner.left);
  container.scrollTop += beyond(inner.bottom - outer.bottom) - beyond(outer.top - inner.top);
}
