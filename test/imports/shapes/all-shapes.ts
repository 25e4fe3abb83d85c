import { ARCHIVE_SHAPES } from "./archive-shapes.ts";
import { CELL_SHAPES } from "./cell-shapes.ts";
import { LAYOUT_SHAPES } from "./layout-shapes.ts";
import type { Shape } from "./shape.ts";

export const SHAPES: readonly Shape[] = [...CELL_SHAPES, ...LAYOUT_SHAPES, ...ARCHIVE_SHAPES];
