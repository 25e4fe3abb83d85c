import { describe, expect, it } from "vitest";
import { withoutUncalled } from "./without-uncalled.ts";

function left(source: string): string {
  return withoutUncalled(source.split("\n")).join("\n");
}

const DOUBLE = "local function double(x)\nif x then return 2 * x end\nend";
const TWICE = "local function twice(x)\nfor _ = 1, 2 do\nx = double(x)\nend\nreturn x\nend";

describe("a script without what it does not call", () => {
  it("has no function that nobody calls", () => {
    expect(left(`${DOUBLE}\nreturn 1`)).toBe("return 1");
  });

  it("keeps what is called, also by what is called", () => {
    const source = `${DOUBLE}\n${TWICE}\nreturn twice(1)`;
    expect(left(source)).toBe(source);
  });

  it("leaves out what only an uncalled function calls", () => {
    expect(left(`${DOUBLE}\n${TWICE}\nreturn 1`)).toBe("return 1");
  });

  it("keeps all that is outside of functions, whatever its texts say", () => {
    const source = "local a = { 'if',\n'function' }\nif a then\nlocal b = 'end'\nend\nreturn a";
    expect(left(source)).toBe(source);
  });

  it("takes the branches of one condition for one block", () => {
    const branches = "if x then\nreturn 1\nelseif y then\nreturn 2\nelse\nreturn 3\nend";
    expect(left(`local function pick(x, y)\n${branches}\nend\nreturn 4`)).toBe("return 4");
  });
});
