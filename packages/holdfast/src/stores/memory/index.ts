export { memoryStore, type MemoryStoreOptions } from "./memory-store.ts";
