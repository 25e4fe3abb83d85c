import { readFileSync } from "node:fs";
import { HoldfastError } from "holdfast";
import { expect, it } from "vitest";
import * as errors from "./errors.ts";
import { SheetError } from "./read/sheet.ts";

const page = readFileSync(new URL("../../../docs/reference/errors.md", import.meta.url), "utf8");
const [, own = ""] = page.split("### `@holdfast/imports`");

it.each(Object.entries({ ...errors, SheetError }))(
  "the reference tells the truth about %s",
  (name, Class) => {
    const error = Reflect.construct(Class, ["reason", "message"]) as HoldfastError;
    expect(error).toBeInstanceOf(HoldfastError);
    const row = own.split("\n").find((line) => line.startsWith(`| \`${name}\``)) ?? "";
    const [, , code = "", retryable = ""] = row.split("|").map((cell) => cell.trim());
    expect([code, retryable]).toEqual([`\`${error.code}\``, error.isRetryable ? "yes" : "no"]);
  },
);
