/** Workloads spread over time: the instants of a plan come from a function, not from a list. */
export {};
