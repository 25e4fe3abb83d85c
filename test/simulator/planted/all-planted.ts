import { chargeBugs } from "./charge-bugs.ts";
import { controlBugs } from "./control-bugs.ts";
import { engineBugs } from "./engine-bugs.ts";
import { keepingBugs } from "./keeping-bugs.ts";
import { leaseBugs } from "./lease-bugs.ts";
import type { PlantedBug } from "./planted-bug.ts";
import { settleBugs } from "./settle-bugs.ts";
import { tickBugs } from "./tick-bugs.ts";

export const PLANTED_BUGS: readonly PlantedBug[] = [
  ...leaseBugs,
  ...settleBugs,
  ...keepingBugs,
  ...engineBugs,
  ...chargeBugs,
  ...tickBugs,
  ...controlBugs,
];
