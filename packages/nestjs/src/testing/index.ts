/** For an application's own tests: its jobs on virtual time. */
export {
  HoldfastTestingModule,
  onVirtualTime,
  testKitOf,
  type HoldfastTestKit,
  type OnVirtualTimeOptions,
} from "./testing-module.ts";
