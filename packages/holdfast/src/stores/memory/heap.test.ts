import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Heap } from "./heap.ts";

interface Item {
  readonly value: number;
  readonly seq: number;
  rank: number;
  slot: number;
}

function isBefore(a: Item, b: Item): boolean {
  return a.rank !== b.rank ? a.rank < b.rank : a.seq < b.seq;
}

function heapOf(values: readonly number[]): { heap: Heap<Item>; items: Item[] } {
  const heap = new Heap<Item>(isBefore);
  const items = values.map((value, seq) => ({ value, seq, rank: value, slot: 0 }));
  for (const item of items) heap.push(item);
  return { heap, items };
}

function drain(heap: Heap<Item>): Item[] {
  const drained: Item[] = [];
  for (let first = heap.peek(); first !== undefined; first = heap.peek()) {
    heap.remove(first);
    drained.push(first);
  }
  return drained;
}

function sorted(items: readonly Item[]): Item[] {
  return items.toSorted((a, b) => (isBefore(a, b) ? -1 : 1));
}

const values = fc.array(fc.integer({ min: 0, max: 20 }), { maxLength: 60 });

describe("a heap", () => {
  it("gives its items back in order, whatever the order they came in", () => {
    fc.assert(
      fc.property(values, (some) => {
        const { heap, items } = heapOf(some);
        expect(drain(heap)).toEqual(sorted(items));
      }),
    );
  });

  it("stays in order when items leave or move from anywhere inside", () => {
    fc.assert(
      fc.property(values, fc.array(fc.nat(), { maxLength: 30 }), (some, picks) => {
        const { heap, items } = heapOf(some);
        const inside = new Set(items);
        for (const pick of picks) {
          const item = items[pick % Math.max(1, items.length)];
          if (item === undefined || !inside.has(item)) continue;
          if (pick % 2 === 0) {
            heap.remove(item);
            inside.delete(item);
          } else {
            item.rank = pick % 23;
            heap.moved(item);
          }
        }
        expect(heap.size).toBe(inside.size);
        expect(drain(heap)).toEqual(sorted([...inside]));
      }),
    );
  });

  it("counts what is before an item, up to a bound", () => {
    fc.assert(
      fc.property(values, fc.nat(), fc.integer({ min: 0, max: 70 }), (some, pick, bound) => {
        const { heap, items } = heapOf(some);
        const item = items[pick % Math.max(1, items.length)];
        if (item === undefined) return;
        const before = sorted(items).indexOf(item);
        expect(heap.countBefore(item, bound)).toBe(Math.min(before, bound));
      }),
    );
  });

  it("refuses to remove what is not inside", () => {
    const { heap } = heapOf([1, 2]);
    const { items } = heapOf([1]);
    expect(() => items.forEach((item) => heap.remove(item))).toThrow("not in this heap");
  });
});
