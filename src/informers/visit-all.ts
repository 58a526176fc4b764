import type { WorkStretch } from '../kernel/index.ts';

/** Visits all items, and lets other work have its turn in between when there are many. */
export async function visitAll<Item>(
  items: Iterable<Item>,
  stretch: WorkStretch,
  visit: (item: Item) => void,
): Promise<void> {
  for (const item of items) {
    if (stretch.isOver()) await stretch.rest();
    visit(item);
  }
}
