import { expect, it } from "vitest";
import { addNote, notesOf, type Note } from "./notes.ts";

const told: Note = { kind: "listener", event: "dead", types: null };

it("a method that is decorated again is told once; one that is not keeps what its parent says", () => {
  class Parent {
    first() {}
    second() {}
  }
  class Child extends Parent {
    override first() {}
  }
  for (const method of ["first", "second", "second"]) addNote(Parent.prototype, method, told);
  addNote(Parent, null, { kind: "handler", target: "x", options: null });
  addNote(Child.prototype, "first", { ...told, types: ["mail"] });
  expect(notesOf(Child)).toEqual([
    { method: "first", note: { ...told, types: ["mail"] } },
    { method: "second", note: told },
    { method: "second", note: told },
  ]);
});
