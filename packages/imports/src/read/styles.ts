/** Which styles of a workbook show a number as a date. */
import { builtInKind, kindOfFormat, type FormatKind } from "./number-format.ts";
import { ignore, readList, type Package } from "./read-part.ts";
import { damaged } from "./sheet-fault.ts";

/** Excel's own limit of cell formats is 65,490. */
const MAX_STYLES = 70_000;

/** By the number of a style, as cells name it. */
export async function readStyles(from: Package, name: string): Promise<readonly FormatKind[]> {
  const custom = new Map<number, FormatKind>();
  const styles: FormatKind[] = [];
  let isInCells = false;
  await readList(from, name, {
    open(element, tag) {
      if (element === "cellXfs") isInCells = true;
      else if (element === "numFmt") {
        custom.set(tag.whole("numFmtId"), kindOfFormat(tag.text("formatCode") ?? ""));
      } else if (element === "xf" && isInCells) {
        const id = tag.whole("numFmtId");
        styles.push(custom.get(id) ?? builtInKind(id));
        if (styles.length > MAX_STYLES)
          throw damaged("it has more styles than a workbook can", name);
      }
    },
    close(element) {
      if (element === "cellXfs") isInCells = false;
    },
    text: ignore,
  });
  return styles;
}
